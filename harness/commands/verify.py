"""`parity verify`."""

import click

__all__ = ["verify"]


@click.command()
def verify() -> None:
    """Sign."""
