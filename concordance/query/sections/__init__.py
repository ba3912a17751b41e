"""The sections of pages, one module for each group of sections."""
