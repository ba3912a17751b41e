"""How each language resolves its imports; one plug-in for each language family.

A plug-in has `LANGUAGES`, the values of `File.language` that it handles, and `imports(tree)`, which returns a function
from the importing file's path and an `Import` to the import's `Target`.
"""
