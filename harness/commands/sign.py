"""`parity sign`."""

import click

__all__ = ["sign"]


@click.command()
def sign() -> None:
    """Sign."""
