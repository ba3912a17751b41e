"""What files say to other languages, one file for each bridge.

A bridge has `LANGUAGES` that it reads (empty for every one), `WORDS`, of which a file has one or is not read, and
`ends(look)`, which gives what a file states. What that means is found in `concordance/link/bridges`.
"""
