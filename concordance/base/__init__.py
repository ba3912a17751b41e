"""Data types, closed lists, errors, configuration and plug-in discovery: what every other package stands on."""
