"""Data types, source maps and errors. Imports neither JAX nor the compiler."""
