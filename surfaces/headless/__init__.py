"""The command line without a terminal: one prompt in, text or JSON out, an exit code."""
