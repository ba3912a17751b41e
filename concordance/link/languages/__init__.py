"""How each language finds what it imports: one file a language family, found by its name.

A plug-in has LANGUAGES, the names in `File.language` that it serves, and `imports(tree)`, which gives a
function from the importing file's path and one `Import` to its `Target`.
"""
