"""Reads comments, docstrings, Markdown, reStructuredText and keyed files."""
