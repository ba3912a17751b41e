"""Output formats for pages, one module each."""
