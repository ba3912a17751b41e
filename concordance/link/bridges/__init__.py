"""Join the ends of bridges between languages; one plug-in for each bridge.

A plug-in has `join(crossing)`, which yields the `Bridge` rows for the ends that the reader of the same name in
`concordance/extract/bridges` found, and for names that files request from other languages. If it also joins ends of
other readers, `READS` names those, so that an update knows when to run the plug-in again.
"""
