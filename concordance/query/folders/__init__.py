"""The folders of a repository: their totals, what their pages say, and the front page."""
