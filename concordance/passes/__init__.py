"""Analyses of the whole repository, one module each: facts in, rows out."""
