"""The folder of a book or a site: which folders may be written, the manifest, and how files reach the disk."""
