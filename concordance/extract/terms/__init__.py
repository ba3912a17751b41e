"""Finds the words and phrases of a file that are worth an index entry."""
