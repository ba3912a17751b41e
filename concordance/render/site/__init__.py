"""The files of the web site, served or static."""
