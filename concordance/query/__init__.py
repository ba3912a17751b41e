"""Answers queries and builds page content from the index: one file per command, page kind and section."""
