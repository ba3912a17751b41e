"""Name resolution: imports to files, names to definitions; one plug-in for each language and each bridge."""
