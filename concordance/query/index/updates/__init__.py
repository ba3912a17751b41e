"""Incremental updates: what a page read, which pages are stale, and how an open index is refreshed."""
