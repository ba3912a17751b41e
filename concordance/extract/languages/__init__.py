"""One file per language: how it is recognised, and how a file of it is read.

A language's file holds `LANGUAGE`, a `model.Language`, and `read(source) -> Draft`. Most hand
`trees.read` a grammar and two queries; the others read their text by themselves.
"""
