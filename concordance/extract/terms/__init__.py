"""Index terms: finds the words and phrases of a file that deserve an entry in the index."""
