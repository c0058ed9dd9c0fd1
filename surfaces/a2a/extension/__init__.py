"""The dialect of the `development-tool` extension: schemas, negotiation and updates of a turn."""
