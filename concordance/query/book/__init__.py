"""The contents of the book: the plan of its chapters, their sections, reading paths and the glossary."""
