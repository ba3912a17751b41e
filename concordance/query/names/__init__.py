"""Resolves, lists and cross-references names."""
