"""The store: the only package that knows SQL. One writer, one read interface, one cache."""
