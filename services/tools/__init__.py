"""Tools: contract, registry, and the built-in ones."""
