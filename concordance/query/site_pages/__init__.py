"""One file per kind of page that only the site has, found by its name.

Each has `subjects(index)`, what there is a page of, and `pages(index, subject)`, the pages of one, as in `query/pages`;
each page's `Ref` says where it stands.
"""
