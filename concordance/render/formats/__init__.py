"""The formats of pages, one file each."""
