"""What differs between two revisions: definitions, files, dependencies, and who is affected.

`parts` makes symbols comparable, `within` pairs those of one file, `across` finds what moved or was renamed, `files`
pairs files, `needs` compares who imports whom, `affected` names tests and pages, `rows` and `told` say all of it.
"""
