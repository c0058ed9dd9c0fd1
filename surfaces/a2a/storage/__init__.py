"""Where a server keeps its tasks: one thread writes them to a database, SQLite's or PostgreSQL's."""
