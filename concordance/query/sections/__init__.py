"""The sections of pages: those of a file's page are plug-ins in `file_page`; the other modules build their blocks."""
