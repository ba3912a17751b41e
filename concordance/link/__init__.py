"""From names to what they mean: imports to files, names to definitions, one file a language."""
