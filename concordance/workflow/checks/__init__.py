"""Checks of a whole book: whether it is true (`verify`), and why it is stale (`staleness`); and whether a store is
current (`freshness`)."""
