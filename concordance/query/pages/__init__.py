"""The pages of the book, one file for each kind."""

from concordance.base.blocks import To

PAGES = __name__
# What links to each kind of page say, which tells where it will stand.
ABOUT = {
    "file": To.FILE, "keywords": To.KEYWORDS, "folder": To.FOLDER, "folder_index": To.INDEX, "subtree": To.SUBTREE,
    "letters": To.LETTERS, "book": To.BOOK, "rule": To.RULE, "operator": To.OPERATOR, "report": To.REPORT,
}  # fmt: skip
