"""How each stage of a build is run."""
