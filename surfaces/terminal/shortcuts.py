"""The keys of the terminal, as `?` and `/shortcuts` list them."""

from __future__ import annotations

from typing import Final

from surfaces.commands import shortcut_lines

__all__ = ["SHORTCUTS", "shortcuts"]

SHORTCUTS: Final = (
    ("Ctrl+Left/Ctrl+Right", "Jump through words in the input"),
    ("Ctrl+C", "Quit application (double press)"),
    ("Ctrl+D", "Quit application, at an empty prompt (double press)"),
    ("Ctrl+Enter", "New line (also Shift+Enter, Ctrl+J)"),
    ("Ctrl+L", "Clear the screen"),
    ("Ctrl+G", "Open input in external editor"),
    ("Ctrl+O", "Show long outputs whole, or short again"),
    ("Ctrl+R", "Search the prompt history"),
    ("Ctrl+Y", "Toggle YOLO mode"),
    ("Ctrl+Z", "Suspend the session (double press)"),
    ("Enter", "Send message"),
    ("Esc", "Cancel operation / Clear input (double press) / Rewind (double press)"),
    ("Page Up/Page Down", "Scroll page up/down"),
    ("Shift+Tab", "Toggle auto-accepting edits"),
    ("Tab", "Complete the command or the path"),
    ("Ctrl+P/Ctrl+N", "Cycle through your prompt history (also Up/Down)"),
    ("!", "Shell mode, at an empty prompt"),
)


def shortcuts() -> list[str]:
    """The keys as lines."""
    return shortcut_lines(SHORTCUTS)
