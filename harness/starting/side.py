"""`AgentSpec`: an agent as the user of `parity init` names it: `hand=agent:shop:Shop.answer`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from harness.errors import UsageError
from runtimes.project import reserved_name

__all__ = ["KINDS", "AgentSpec", "parsed"]

KINDS: Final[Mapping[str, str]] = {
    "agent": "MODULE:FUNCTION or MODULE:CLASS.METHOD, which answers a message: an asynchronous "
    "generator or coroutine over a client for a model",
    "adk": "MODULE:NAME of an agent or App of google-adk, as `adk run` takes it",
    "process": "a command; the program speaks JSON lines",
    "acp": "a command; the program speaks the Agent Client Protocol",
    "a2a": "a command with {port}, which starts an A2A server on that port",
}
"""Kind of an agent → what its target is."""

_IN_PYTHON: Final = frozenset({"agent", "adk"})
_SPEC: Final = re.compile(r"(?:(?P<name>[\w.-]+)=)?(?P<kind>[a-z0-9]+):(?P<target>.+)", re.DOTALL)
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")
_OBJECT: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSpec:
    """One of the two agents."""

    kind: str
    target: str
    name: str
    """The name of its runtime in `parity.toml`."""

    @property
    def module(self) -> str:
        """The name of its adapter's module."""
        return re.sub(r"\W", "_", self.name)

    @property
    def in_python(self) -> bool:
        """Whether it runs in the process of the harness."""
        return self.kind in _IN_PYTHON

    @property
    def words(self) -> list[str]:
        """The words of its command."""
        return shlex.split(self.target)

    @property
    def imported(self) -> tuple[str, str]:
        """The module of its target, and the name to import from there."""
        module, _, name = self.target.partition(":")
        return module, name.partition(".")[0]

    @property
    def answer(self) -> str:
        """The expression that makes what answers a message."""
        _, _, name = self.target.partition(":")
        owner, dot, method = name.partition(".")
        return f"{owner}().{method}" if dot else owner


def parsed(text: str, *, default_name: str) -> AgentSpec:
    """Read `[NAME=]KIND:TARGET`.

    Raises:
        UsageError: it is not of that form.
    """
    match = _SPEC.fullmatch(text.strip())
    if match is None:
        raise UsageError(
            f"{text!r} names no agent", "write it as [NAME=]KIND:TARGET; --help lists the kinds"
        )
    kind, target, name = match["kind"], match["target"], match["name"] or default_name
    if kind not in KINDS:
        raise UsageError(f"{text!r}: unknown kind {kind!r}", f"there are {', '.join(KINDS)}")
    if kind in _IN_PYTHON and not _OBJECT.fullmatch(target):
        raise UsageError(f"{text!r}: {target!r} names no object", f"write {KINDS[kind]}")
    if kind not in _IN_PYTHON:
        _check_command(text, kind, target)
    if not _NAME.fullmatch(name) or reserved_name(name):
        problem = f"{text!r}: a runtime cannot be called {name!r}"
        raise UsageError(
            problem, "use letters, digits, `.`, `_`, `-`; names of parity's own are taken"
        )
    return AgentSpec(kind=kind, target=target, name=name)


def _check_command(text: str, kind: str, target: str) -> None:
    try:
        words = shlex.split(target)
    except ValueError as error:
        raise UsageError(
            f"{text!r}: {str(error)[:1].lower()}{str(error)[1:]}",
            "quote the command as for a shell",
        ) from error
    if not words:
        raise UsageError(f"{text!r} has no command", f"write {KINDS[kind]}")
    if kind == "a2a" and "{port}" not in target:
        raise UsageError(f"{text!r}: the command has no {{port}}", f"write {KINDS[kind]}")
