"""What a page read, which pages are stale, and how an open index follows an update."""
