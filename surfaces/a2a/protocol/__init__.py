"""Protocol 1.x, and HTTP+JSON in 0.3 and 1.x: a2a-sdk's dispatchers over this server's tasks."""
