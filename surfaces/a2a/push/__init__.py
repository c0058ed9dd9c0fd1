"""Push notifications: a client names an address, and the server calls it when a task changes."""
