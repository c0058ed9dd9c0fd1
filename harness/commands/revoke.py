"""`parity revoke`."""

import click

__all__ = ["revoke"]


@click.command()
def revoke() -> None:
    """Sign."""
