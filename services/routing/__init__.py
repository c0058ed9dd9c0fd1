"""Which model serves a request."""
