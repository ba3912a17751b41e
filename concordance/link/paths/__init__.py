"""Finds files by the paths that other files write."""
