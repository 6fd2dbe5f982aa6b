"""Explains how a function was compiled and how it ran."""
