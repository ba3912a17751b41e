"""The full-text index beside the store."""
