"""The book in a browser: every file of the site from the store, over HTTP or written to a folder."""
