"""The console script `parity`."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the command line; ends the process with its exit code."""
    import parity_entry.ours_first  # noqa: F401 - for its effect, before anything else of ours
    from harness.cli import main as command

    command()
