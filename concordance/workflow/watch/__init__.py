"""Keeping a store and a book current while the repository changes."""
