"""Stores and reads links: rows, the graph of the whole repository, and the ends of bridges."""
