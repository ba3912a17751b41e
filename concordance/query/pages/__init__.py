"""The pages of the book, one file for each kind."""
