"""`parity upstream`: which versions of the published core are installed on this machine."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from types import FrameType

import click

from harness.errors import UsageError
from harness.wrapping import say
from runtimes.published import (
    DEFAULT_VERSION,
    InstalledVersion,
    UpstreamUnavailable,
    details,
    install_command,
    installed_versions,
)
from runtimes.published import install as install_version
from runtimes.published import remove as remove_version
from runtimes.published import upstream_folder as folder_of_all

__all__ = ["install", "list_", "remove"]


def install(version: str | None) -> None:
    """Run `parity upstream install`."""
    with _as_usage_error(), _ended_by_signals():
        package = install_version(version, report=lambda line: say(line, err=True))
    folder = package.parents[2]
    name = "upstream" if folder.name == DEFAULT_VERSION else f"upstream@{folder.name}"
    say(
        f"{folder.name} is in {folder}; compare with it: "
        f"parity run --control {name} --candidate legacy"
    )


def list_(as_json: bool) -> None:
    """Run `parity upstream list`."""
    with _as_usage_error():
        folder = folder_of_all()
        found = [details(version) for version in installed_versions()]
    if as_json:
        rows = [{**asdict(one), "folder": str(one.folder)} for one in found]
        about = {"default": DEFAULT_VERSION, "folder": str(folder), "installed": rows}
        click.echo(json.dumps(about, indent=2))
        return
    if not found:
        command = install_command(DEFAULT_VERSION)
        say(f"no version is installed in {folder}; install one: {command}")
        return
    for line in _table(found):
        say(line)


def remove(version: str | None, remove_all: bool) -> None:
    """Run `parity upstream remove`."""
    if (version is not None) == remove_all:
        problem = "both a version and --all are given" if remove_all else "no version is named"
        raise UsageError(problem, "name one version, or give --all")
    with _as_usage_error():
        chosen = installed_versions() if version is None else [version]
        for one in chosen:
            remove_version(one)
            say(f"removed: {one}")
    if not chosen:
        say("no version is installed")


def _table(found: Sequence[InstalledVersion]) -> list[str]:
    rows = [("version", "", "node", "size", "folder")]
    for one in found:
        mark = "default" if one.is_default else ""
        size = f"{one.size / 1_000_000:.0f} MB"
        rows.append((one.version, mark, one.node or "-", size, str(one.folder)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            f"{cell:>{width}}" if place == 3 else f"{cell:<{width}}"
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


@contextmanager
def _as_usage_error() -> Iterator[None]:
    try:
        yield
    except UpstreamUnavailable as error:
        raise UsageError(error.problem, error.mend) from error


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Let a signal that would end this process end npm too: npm has a process group of its own."""

    def leave(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    names = ("SIGTERM", "SIGHUP")
    numbers = [signal.Signals[name] for name in names if hasattr(signal, name)]
    before = {number: signal.signal(number, leave) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
