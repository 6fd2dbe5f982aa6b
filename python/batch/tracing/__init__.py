"""Traces Python functions to jaxprs."""
