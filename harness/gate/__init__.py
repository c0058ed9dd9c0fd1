"""The gate decides whether a flag may be flipped, from evidence, and gives its reasons."""
