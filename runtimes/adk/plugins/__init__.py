"""ADK plugins: what watches a run from beside it."""
