"""Keeps the store whole: checksums, the build lock, and the audit of `concord check --store`."""
