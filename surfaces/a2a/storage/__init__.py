"""Where a server keeps its tasks: one thread writes them to SQLite or to PostgreSQL."""
