"""Resolves names of Python."""
