"""Questions and pages about operators."""
