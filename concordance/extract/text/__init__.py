"""Works on the plain text of a file: lines, highlighting, repeated stretches."""
