"""The reader for Python."""
