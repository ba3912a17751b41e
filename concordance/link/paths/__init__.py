"""Find files by the paths that are written in other files."""
