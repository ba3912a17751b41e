"""Compares two revisions: definitions, files, dependencies, and which tests and pages are affected.

`symbols` makes definitions comparable, `symbol_pairs` pairs those of one file, `moves` finds definitions and files that
were moved or renamed, `dependencies` compares imports and cycles, `affected` lists tests and pages, and `rows` and
`report` assemble the answer. `comparison` holds the types that are passed in.
"""
