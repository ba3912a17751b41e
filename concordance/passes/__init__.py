"""Analyses over the whole repository, one file each: facts in, rows out."""
