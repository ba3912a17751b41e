"""Language plug-ins: one file per language says which files belong to it and how to parse them.

Each file defines `LANGUAGE`, a `model.Language`, and `read(source) -> Draft`. Most languages pass a tree-sitter
grammar and two queries to `trees.read`; the others parse the text themselves.
"""
