"""The full-text index next to the store."""
