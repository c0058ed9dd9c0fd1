"""The interactive terminal: an application on Textual over any runtime."""
