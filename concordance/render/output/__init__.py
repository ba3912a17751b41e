"""The folder of a book: which folders may be written, the manifest, and how pages reach the disk."""
