"""The console script `parity`."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the command line; ends the process with its exit code."""
    from importlib import import_module

    import_module("parity.harness.cli").main()
