"""Vim's keys for the input. Nothing here draws, or knows a widget."""
