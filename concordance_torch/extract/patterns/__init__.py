"""Patterns of PyTorch's own code."""
