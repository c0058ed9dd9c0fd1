"""Protocol 1.x, and HTTP+JSON of 0.3 and 1.x, on a2a-sdk's dispatchers over the tasks of this server."""
