"""Implements batch.sample."""
