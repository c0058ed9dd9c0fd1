"""The commands of `parity`. Modules here import click and nothing slow; the rest comes when run."""
