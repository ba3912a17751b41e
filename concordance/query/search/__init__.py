"""Finds files, definitions and paths."""
