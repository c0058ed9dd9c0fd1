"""Chat recordings on disk: reading, writing and deleting them, and the histories they hold."""
