"""Every file of the web site."""
