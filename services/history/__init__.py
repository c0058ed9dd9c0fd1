"""The model-facing history and the view of it that a request carries."""
