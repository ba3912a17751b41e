"""What the ends of bridges mean, one file for each bridge.

A bridge has `join(crossing)`, which gives what it knows of the ends that `concordance/extract/bridges` read under the
same name, and of names that files ask other languages for. Where it joins the ends of other readers, too, `READS` names
these, so that an update knows.
"""
