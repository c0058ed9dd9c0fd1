"""Profiles: the emphasis of a generated run.

A profile overrides weights of the grammar's choices. A sample's bound holds for its profile only,
so reports give the profile's digest with the bound.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from harness.canonical import canonical, sha256_hex
from services.wire import JsonObject

__all__ = ["PROFILES", "Profile"]

_WITHOUT: Final[Mapping[str, Mapping[str, Mapping[str, int]]]] = {
    "compression": {
        "features": {"compression": 0},
        "chances": {"set_compressionThreshold": 0},
        "between": {"compress": 0},
    },
    "confirmations": {"chances": {"confirms": 0}},
    "fallback_handler": {"chances": {"fallback_handler": 0}},
    "hooks": {"chances": {"set_hooks": 0}},
    "interactive": {"chances": {"interactive": 0}},
    "masking": {"chances": {"set_masking": 0}},
    "next_speaker": {"chances": {"set_skipNextSpeakerCheck": 0}},
    "reset": {"between": {"reset": 0}},
    "resume": {"between": {"resume_self": 0}},
    "rewind": {"between": {"rewind": 0}},
    "routing": {"model": {"auto-gemini-2.5": 0, "auto-gemini-3": 0}},
    "steering": {
        "chances": {"steering": 0},
        "during": {"hint": 0},
        "between": {"hint": 0},
        "features": {"steering": 0},
    },
    "subagents": {"chances": {"agents": 0}},
    "checkpoints": {"chances": {"checkpoints": 0}, "between": {"restore": 0}},
    "revert": {"rewind_choice": {"revert_only": 0, "rewind_and_revert": 0}},
    "plan_mode": {"surface_call": {"enter_plan_mode": 0, "exit_plan_mode": 0}},
    "loop_question": {"chances": {"loop_question": 0}},
    "new_agents_question": {"chances": {"new_agents_question": 0}},
    "trust_question": {"chances": {"trust_question": 0}},
    "validation_question": {"chances": {"validation_question": 0}},
}
"""Feature of cassettes → weights with which no scenario needs it; other features are not drawn."""
_SURFACE: Final = frozenset(
    {
        "checkpoints",
        "loop_question",
        "new_agents_question",
        "plan_mode",
        "revert",
        "steering",
        "trust_question",
        "validation_question",
    }
)
_DRAWN_WITH: Final[Mapping[str, frozenset[str]]] = {
    "agents": frozenset({"subagents", "steering"}),
    "surface": _SURFACE,
}
"""A chance → the features that are drawn only by profiles with it, or with another of these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A weighting of the grammar."""

    name: str
    about: str
    """One line for users."""
    weights: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Choice → option → weight; `chances` → chance → times in a thousand."""
    tools: Mapping[str, JsonObject] | None = None
    """The tools of agents that have their own: name → JSON schema; `None` for our tools."""

    @property
    def digest(self) -> str:
        """SHA-256 of the weights, and of the tools of agents that have their own."""
        weights = {name: dict(each) for name, each in self.weights.items()}
        return sha256_hex(canonical(weights if self.tools is None else [weights, self.tools]))

    def drawn_of(self, features: Collection[str]) -> list[str]:
        """The `features` (`harness.cassette.needs`) that its scenarios may need, sorted."""
        chances = self.weights.get("chances", {})
        drawn = _WITHOUT.keys() - frozenset().union(*_DRAWN_WITH.values())
        for chance, more in _DRAWN_WITH.items():
            if chances.get(chance, 0) > 0:
                drawn |= more
        return sorted(drawn & set(features))

    def without(self, features: Collection[str]) -> Profile:
        """The profile changed so that no scenario needs one of `features`."""
        weights = {choice: dict(each) for choice, each in self.weights.items()}
        for feature in self.drawn_of(features):
            for choice, changed in _WITHOUT[feature].items():
                weights.setdefault(choice, {}).update(changed)
        return replace(self, weights=weights)


def _profiles(*found: Profile) -> Mapping[str, Profile]:
    return {profile.name: profile for profile in found}


PROFILES: Final = _profiles(
    Profile(name="everything", about="all that the grammar knows, as it stands"),
    Profile(
        name="fallback",
        about="quotas, capacity and overload, with and without a fallback handler",
        weights={
            "chances": {"fault": 450, "fallback_handler": 600, "fault_repeats": 300, "round": 300},
            "fault": {
                "bare_429": 20,
                "delayed_429": 10,
                "daily_quota": 30,
                "minute_quota": 10,
                "capacity": 20,
                "overloaded": 15,
                "not_found": 8,
            },
            "model": {"auto-gemini-2.5": 40, "gemini-2.5-pro": 40, "gemini-3-pro-preview": 20},
        },
    ),
    Profile(
        name="masking",
        about="large tool outputs that are truncated, masked and compressed away",
        weights={
            "chances": {
                "set_masking": 900,
                "set_truncateToolOutputThreshold": 500,
                "round": 800,
                "fault": 30,
                "interruption": 40,
            },
            "tool": {
                "read_file": 40,
                "run_shell_command": 30,
                "sized": 30,
                "unknown": 1,
                "invalid": 1,
            },
            "approval_mode": {"yolo": 100, "default": 1, "auto_edit": 1},
        },
    ),
    Profile(
        name="loops",
        about="models that go round in circles",
        weights={
            "chances": {
                "circle": 500,
                "marathon": 60,
                "round": 750,
                "set_disableLoopDetection": 20,
                "fault": 40,
            },
            "answer_text": {"long": 15, "around": 15},
        },
    ),
    Profile(
        name="aborts",
        about="users who stop, steer and change their mind at any point",
        weights={
            "chances": {"interruption": 900, "send": 700, "slow_model": 300},
            "during": {"abort": 40},
        },
    ),
    Profile(
        name="approvals",
        about="hooks, rules, modes and confirmations",
        weights={
            "chances": {
                "set_hooks": 700,
                "another_hook": 500,
                "set_policyRules": 500,
                "set_tools": 200,
                "interactive": 500,
                "confirms": 800,
                "round": 750,
                "fault": 40,
            },
            "approval_mode": {"yolo": 10, "default": 50},
            "tool": {"run_shell_command": 30, "write_file": 20, "replace": 15},
        },
    ),
    Profile(
        name="subagents",
        about="agents that the model calls, one after the other and beside each other",
        weights={
            "chances": {
                "agents": 1000,
                "round": 600,
                "fault": 40,
                "interruption": 250,
            },
            "approval_mode": {"plan": 4},
        },
    ),
    Profile(
        name="interactive",
        about="sessions with a user: plans, questions, hints, checkpoints, the way back",
        weights={
            "chances": {
                "surface": 1000,
                "interactive": 900,
                "confirms": 850,
                "confirm": 700,
                "send": 700,
                "round": 600,
                "interruption": 450,
                "set_hooks": 200,
                "fault": 60,
                "circle": 60,
            },
            "approval_mode": {"yolo": 20, "default": 30, "auto_edit": 12, "plan": 20},
            "between": {"nothing": 30, "rewind": 10, "set_approval_mode": 6},
            "during": {"abort": 10, "mode": 8},
            "hook_event": {"SessionStart": 3, "SessionEnd": 3, "Notification": 2},
        },
    ),
    Profile(
        name="malformed",
        about="answers that are not as they should be: odd chunks, odd calls, odd ends",
        weights={
            "chances": {
                "odd_chunk": 600,
                "finish_apart": 300,
                "round": 500,
                "call_id": 400,
            },
            "finish": {"STOP": 20},
            "fault": {"malformed": 20, "garbled": 10, "empty_stream": 10, "no_finish": 10},
            "tool": {"unknown": 15, "invalid": 25},
            "answer_text": {"odd": 20},
            "usage_shape": {"whole": 15},
        },
    ),
    Profile(
        name="nulls",
        about="chunks with null where something belongs; the published core breaks on them",
        weights={"chances": {"nulls": 1000, "odd_chunk": 500}},
    ),
    Profile(
        name="distillation",
        about="long outputs distilled, as no other profile has it",
        weights={
            "chances": {"set_distillation": 900, "set_masking": 0, "round": 700, "fault": 30},
            "tool": {"read_file": 10, "run_shell_command": 40, "sized": 40},
            "approval_mode": {"yolo": 100, "default": 1, "auto_edit": 1},
        },
    ),
)
"""Every profile by its name."""
