"""Pages about operators."""
