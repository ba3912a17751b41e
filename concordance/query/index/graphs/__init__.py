"""Who uses whom: files, bridges between languages, and what leads to what."""
