"""The store: the only place that knows SQL. One writer, one read interface, one cache."""
