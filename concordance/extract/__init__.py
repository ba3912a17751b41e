"""Extraction of facts from one file's text: pure, parallel, cached by content."""
