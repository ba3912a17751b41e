"""Rendering: turns pages into files, with their addresses, formats, manifest and claims."""
