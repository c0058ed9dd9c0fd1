"""The console of every report: lines wrapped on a terminal, whole everywhere else."""

from __future__ import annotations

from typing import Any, TextIO

from rich.console import Console
from rich.text import Text

from harness.wrapping import wrapped

__all__ = ["Screen"]


class Screen(Console):
    """A rich console that wraps a single text like `harness.wrapping`."""

    def __init__(self, stream: TextIO) -> None:
        """Print to `stream`, with colour and wrapping only on a terminal."""
        super().__init__(file=stream, highlight=False, soft_wrap=True)
        self._wraps = stream.isatty()

    def print(self, *objects: Any, **options: Any) -> None:
        """Print like `Console.print`; wrap a single text with its markup."""
        if not self._wraps or len(objects) != 1 or not isinstance(objects[0], str):
            super().print(*objects, **options)
            return
        for line in wrapped(Text.from_markup(objects[0]).plain, self.width):
            super().print(Text(line), **options)
