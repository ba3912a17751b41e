"""Bridge plug-ins: one file per bridge finds the places where a file refers to another language.

A bridge has `LANGUAGES`, the languages it reads (empty for all), `WORDS`, of which a file must contain at least one
to be read, and `ends(look)`, which yields the ends that it finds. The bridge of the same name in
`concordance/link/bridges` resolves them.
"""
