"""`Within` and `Watched`: checks of the runtime alone, which state what is to be seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from parity_tests.adk_probes.clients import Items
from parity_tests.adk_probes.ours import run_ours
from parity_tests.adk_probes.probe import Probe
from services.settings.hooks import read_hooks
from services.wire import Content, JsonObject, js_json

__all__ = ["Watched", "Within", "hooks", "unwatched"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Within:
    """One use of ADK in the runtime, and what must be seen of it. `None` is not looked at."""

    probe: Probe
    notes: Sequence[Any] | None = None
    """Of the probe's plugins."""
    result: Items | None = None
    """What a client must see: see `clients.Items`."""
    session: Sequence[tuple[str, Sequence[str]]] | None = None
    """Of each event that the session has at the end: author, and the kinds of its parts."""
    contents: Sequence[Sequence[Content]] | None = None
    """Of the last request, if there is one, without the first, which describes the workspace."""
    config: JsonObject | None = None
    """Fields of the last request's configuration."""
    tools: Sequence[str] | None = None
    """The names of those that the last request declares."""
    state: dict[str, Any] | None = None
    """Of the session, at the end."""

    @property
    def name(self) -> str:
        """The probe's."""
        return self.probe.name

    def differs(self) -> tuple[str, ...]:
        """Run it once; return what is not as it must be, a line each."""
        seen = run_ours(self.probe)
        session = [(event["author"], event["parts"]) for event in seen.session]
        declared = [tool for each in seen.requests[-1:] for tool in each.get("tools", ())]
        tools = [each["name"] for tool in declared for each in tool["functionDeclarations"]]
        config = [{key: each.get(key) for key in self.config or ()} for each in seen.requests[-1:]]
        pairs: Sequence[tuple[str, Any, Any]] = (
            ("notes", seen.notes, self.notes),
            ("result", seen.result, self.result),
            ("session", session, self.session),
            ("configuration", config, self.config and [self.config]),
            ("tools", tools, self.tools),
            ("state", seen.state, self.state),
            ("contents", [each["contents"][1:] for each in seen.requests[-1:]], self.contents),
            ("client", seen.client, []),
        )
        return tuple(
            f"{what}: the runtime has {found}, and must have {wanted}"
            for what, found, wanted in pairs
            if wanted is not None and found != wanted
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """A script under plugins that only look: nothing may be other than without them."""

    probe: Probe

    @property
    def name(self) -> str:
        """The probe's."""
        return self.probe.name

    def differs(self) -> tuple[str, ...]:
        """Run it with and without the plugin that has every callback."""
        with_plugins, without = (
            run_ours(replace(self.probe, counted=each)) for each in (True, False)
        )
        return tuple(
            f"{what}: with plugins the runtime has {found}, and without {wanted}"
            for what in ("requests", "emitted", "session", "state")
            if (found := getattr(with_plugins, what)) != (wanted := getattr(without, what))
        )


def unwatched(name: str, plugins: Any, script: Any, **more: Any) -> Probe:
    """A probe for a check, whose plugins are the only ones of others."""
    fields = {"counted": False, **more}
    return Probe(name=f"within-{name}", row="", plugins=plugins, script=script, **fields)


def hooks(event: str, **said: Any) -> dict[str, Any]:
    """Settings with one hook, which always says the same."""
    hook = {"type": "command", "command": f"echo '{js_json(said)}'"}
    return {"hooks": read_hooks({event: [{"hooks": [hook]}]})}
