"""Version numbers of the published core: which are allowed, and their order.

A version from a command line or a runtime name (`upstream@V`) becomes the name of a folder.
`checked_version` refuses everything else, such as path separators.
"""

from __future__ import annotations

import re
from typing import Final

from runtimes.published.problems import UpstreamUnavailable

__all__ = [
    "DEFAULT_VERSION",
    "MINIMUM_NODE",
    "PACKAGE",
    "VersionOrder",
    "checked_spec",
    "checked_version",
    "is_version",
    "version_order",
]

PACKAGE: Final = "@google/gemini-cli-core"
DEFAULT_VERSION: Final = "0.61.0"
MINIMUM_NODE: Final = 20

_NUMBER: Final = r"(?:0|[1-9][0-9]*)"
_IDENTIFIER: Final = rf"(?:{_NUMBER}|[0-9]*[A-Za-z-][0-9A-Za-z-]*)"
# No build metadata: npm drops it, so the folder's name and the package's own would differ.
_VERSION: Final = re.compile(
    rf"{_NUMBER}(?:\.{_NUMBER}){{2}}(?:-{_IDENTIFIER}(?:\.{_IDENTIFIER})*)?", re.ASCII
)
# Two letters first: npm reads `v1` and `x` as ranges, and no tag of the core looks like that.
_TAG: Final = re.compile(r"[a-z]{2}[a-z0-9-]*", re.ASCII)
_LONGEST: Final = 100

VersionOrder = tuple[tuple[int, ...], bool, tuple[tuple[bool, int, str], ...]]
"""The sort key of a version: numbers, released or not, the prerelease's identifiers."""


def is_version(text: str) -> bool:
    """Whether `text` is one exact semantic version, such as `0.61.0` or `0.62.0-preview.1`."""
    return len(text) <= _LONGEST and _VERSION.fullmatch(text) is not None


def checked_version(version: str) -> str:
    """`version` as it stands; it may be used as the name of a folder.

    Raises:
        UpstreamUnavailable: it is not one exact version.
    """
    if not is_version(version):
        raise UpstreamUnavailable(
            f"{_shown(version)} is not a version of the published core",
            f"give one such as {DEFAULT_VERSION}; `parity upstream list` shows the installed ones",
        )
    return version


def checked_spec(asked: str) -> str:
    """`asked` as it stands: an exact version, or a tag that npm resolves to one (`latest`).

    Raises:
        UpstreamUnavailable: it is neither.
    """
    if not is_version(asked) and not (len(asked) <= _LONGEST and _TAG.fullmatch(asked)):
        raise UpstreamUnavailable(
            f"{_shown(asked)} is neither a version nor a tag of the published core",
            f"give one such as {DEFAULT_VERSION} or latest",
        )
    return asked


def version_order(version: str) -> VersionOrder:
    """The sort key of a version: a prerelease before its release, numbers by value.

    Source: semver 2.0.0, section 11.
    """
    numbers, dash, prerelease = version.partition("-")
    identifiers = prerelease.split(".") if dash else []
    return (
        tuple(int(number) for number in numbers.split(".")),
        not dash,
        tuple((False, int(one), "") if one.isdecimal() else (True, 0, one) for one in identifiers),
    )


def _shown(text: str) -> str:
    return repr(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…")
