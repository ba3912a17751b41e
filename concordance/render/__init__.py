"""From pages to files: where each page stands, how it looks, what it claims."""
