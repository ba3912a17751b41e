"""The web server: every page of the site and the HTTP API, answered from the store."""
