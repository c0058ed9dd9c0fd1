"""The published core as a runtime: `@google/gemini-cli-core` in a child process of node.

`upstream` is the default version; `upstream@V` any other that is installed.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from runtimes.contract import RuntimeFactory, RuntimeTraits, RuntimeUnavailable
from runtimes.published import DEFAULT_VERSION, UpstreamUnavailable, check_available, package_folder
from runtimes.upstream.runtime import runtime_for

__all__ = ["check", "open_runtime", "traits", "variant"]

open_runtime: Final = runtime_for(DEFAULT_VERSION)


def variant(version: str) -> RuntimeFactory:
    """The factory behind `upstream@version`."""
    return runtime_for(version)


def traits(version: str | None) -> RuntimeTraits:
    """The traits of a version: all features, with its own prompts and texts."""
    folders: dict[str, str] = {}
    with suppress(UpstreamUnavailable):  # Opening it reports the error.
        folders[str(package_folder(version or DEFAULT_VERSION))] = "<CORE>"
    return RuntimeTraits(words="gemini-cli-core", folders=folders, confinable=False)


def check(version: str | None) -> None:
    """Find out whether a version can be opened here; the default one where none is named.

    Raises:
        RuntimeUnavailable: node or the package is missing; says which command mends it.
    """
    try:
        check_available(version or DEFAULT_VERSION)
    except UpstreamUnavailable as missing:
        raise RuntimeUnavailable(missing.problem, missing.mend) from None
