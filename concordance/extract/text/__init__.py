"""Works on a file's plain text: offsets and lines, highlighting, repetition, message templates."""
