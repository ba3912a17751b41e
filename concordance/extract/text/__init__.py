"""Works on a file's plain text: offsets and lines, highlighting, repetition, message templates, terms for the index."""
