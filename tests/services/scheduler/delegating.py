"""A tool whose calls hand their work to another call, and are confirmed as that one is."""

from __future__ import annotations

from dataclasses import dataclass

from services.wire import JsonObject
from tests.services.scheduler.conftest import ScriptedInvocation, ScriptedTool


@dataclass
class Delegating(ScriptedInvocation):
    """Hands its work to `inner`."""

    @property
    def asked_name(self) -> str:
        return "inner"

    @property
    def asked_args(self) -> JsonObject:
        return {"query": self.params["prompt"]}

    @property
    def asked_shown_name(self) -> str:
        return "The Inner"


class DelegatingTool(ScriptedTool):
    def build(self, params: JsonObject) -> Delegating:
        return Delegating(self, params)
