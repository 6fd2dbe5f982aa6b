"""Compiles models, binds parameters and runs mini-batches. Requires NumPy only."""
