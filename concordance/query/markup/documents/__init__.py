"""Documents as they are read: rendered, with links, pictures, tables and formulas, and names linked to definitions."""
