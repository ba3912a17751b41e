"""One-line descriptions of files: the author's own words, or else a summary of the facts."""
