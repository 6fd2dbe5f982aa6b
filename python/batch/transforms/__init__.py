"""Transformations of JAX functions to functions over batches: vmap, map, function."""
