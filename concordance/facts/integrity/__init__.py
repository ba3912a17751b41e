"""Keeps the store intact: checksums, the build lock, and the audit of `concord check --store`."""
