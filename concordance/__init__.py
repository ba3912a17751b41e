"""Concordance: the documentation of whole repositories."""
