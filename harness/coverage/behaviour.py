"""One behaviour of the contract: its number, phase, class, sentence and probes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from harness.coverage.expression import ProbeExpression

__all__ = ["PHASES", "Behaviour", "BehaviourClass"]

PHASES: Final[Mapping[str, str]] = MappingProxyType(
    {"A": "non-interactive", "B": "local subagents", "C": "interactive"}
)
"""The rollout phases, and what each moves to the other runtime."""


class BehaviourClass(StrEnum):
    """The subject of a behaviour. The gate requires that cases reach each class."""

    STREAMING = "streaming"
    INVALID_STREAM = "invalid_stream"
    TOOLS = "tools"
    ERRORS = "errors"
    FALLBACK = "fallback"
    ROUTING = "routing"
    MASKING = "masking"
    TRUNCATION = "truncation"
    COMPRESSION = "compression"
    LOOPS = "loops"
    NEXT_SPEAKER = "next_speaker"
    LIMITS = "limits"
    HOOKS = "hooks"
    POLICY = "policy"
    MCP = "mcp"
    SKILLS = "skills"
    SAFETY = "safety"
    RECORDING = "recording"
    RESUME = "resume"
    ABORT = "abort"
    LIFECYCLE = "lifecycle"
    SUBAGENTS = "subagents"
    AGENT_LIMITS = "agent_limits"
    AGENT_TOOLS = "agent_tools"
    AGENT_MODELS = "agent_models"
    AGENT_DEFINITIONS = "agent_definitions"
    AGENT_THREADS = "agent_threads"
    CONFIRMATION = "confirmation"
    PLAN = "plan"
    STEERING = "steering"
    REWIND = "rewind"
    PROGRESS = "progress"
    SURFACES = "surfaces"


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """One numbered behaviour."""

    id: str
    """`P-014`: unique, and never given to another behaviour."""
    phase: str
    """The rollout phase in which it is due: a key of `PHASES`."""
    behaviour_class: BehaviourClass
    title: str
    """What holds, in one sentence."""
    probes: ProbeExpression
    """What a run must have shown for it to have been reached."""
    source: str
    """The origin: a file of the published core, a class of ADK, the design, the API's docs."""
