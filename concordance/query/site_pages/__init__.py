"""The kinds of pages that only the web site has, not the book: one file per kind, found by its name.

As in `query/pages`, each module has `subjects(index)`, which lists what there is a page about, and
`pages(index, subject)`, which yields the pages of one subject. The `Ref` of a page determines its address.
"""
