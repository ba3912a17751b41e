"""The kinds of pages in the book, one file per kind, found by its name.

Each module has `subjects(index)`, which lists what there is a page about, and `pages(index, subject)`, which yields the
pages of one subject: usually one, more when the content is too long for a single page.
"""

from concordance.base.blocks import To

PAGES = __name__
# The link target of each kind of page, which determines its address.
ABOUT = {
    "file": To.FILE, "keywords": To.KEYWORDS, "folder": To.FOLDER, "folder_index": To.INDEX, "subtree": To.SUBTREE,
    "letters": To.LETTERS, "book": To.BOOK, "rule": To.RULE, "operator": To.OPERATOR, "report": To.REPORT,
}  # fmt: skip
