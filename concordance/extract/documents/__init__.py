"""Parsers for comments, docstrings, prose (Markdown, reStructuredText) and files of nested keys."""
