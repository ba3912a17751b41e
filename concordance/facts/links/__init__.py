"""Stores and reads links: rows, the graph over the repository, and the ends of bridges."""
