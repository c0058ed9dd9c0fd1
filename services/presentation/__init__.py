"""How internal values look in the contract: contents, errors, displays."""
