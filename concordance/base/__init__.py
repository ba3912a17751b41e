"""Data types, closed lists, errors, configuration and plug-in discovery: the foundation of every other package."""
