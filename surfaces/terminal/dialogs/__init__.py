"""The dialogs of the terminal: each takes the place of the input until it is answered."""
