"""The ledger of files, and counts over it."""
