"""`reached`: the probes of one run, names of what it did that are the same for all runtimes.

They are read from an `Observation`, so baselines have probes too. A probe says that something
happened, not that it was right. Names are `kind:what`; `PREFIXES` has the kinds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from harness.coverage.child_probes import child_probes
from harness.coverage.event_probes import event_probes, retry_probes, side_probes, state_probes
from harness.coverage.kept_probes import (
    recording_probes,
    replay_probes,
    transcript_probes,
    workspace_probes,
)
from harness.coverage.progress_probes import progress_probes
from harness.coverage.request_probes import request_probes
from harness.coverage.surface_probes import surface_probes
from harness.replay.observation import Observation

__all__ = ["PREFIXES", "reached", "shared_probes"]

PREFIXES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "abort": "how far a stream was when it was aborted",
        "asked": "roles of requests",
        "child": "subagents: start and end, reports, calls, requests, recordings",
        "compression": "summaries of the history: requested, verified, used",
        "config": "settings of requests",
        "confirmed": "confirmations shown, by kind and outcome",
        "end": "reasons of agent_end",
        "error": "error events, by status and fatality",
        "error_code": "codes of error events",
        "event": "kinds of events",
        "fallback": "the same request again to another model, by tiers",
        "handler": "calls of the fallback handler: tiers, answer, error",
        "history": "the history, and its changes between requests",
        "hook": "the events and effects of hooks",
        "http": "HTTP status of error events",
        "invalid_stream": "kinds of invalid responses",
        "limit": "limits that were reached",
        "loop": "strikes of the loop detection",
        "masking": "old tool outputs masked",
        "mcp": "tools of MCP servers",
        "message": "parts of messages, by role",
        "model": "tiers of the models of requests",
        "next_speaker": "outcomes of the next-speaker check",
        "nudge": "messages to a model after an invalid response",
        "policy": "decisions about tool calls",
        "progress": "what calls show while they work, and how these calls end",
        "provider": "rules of the API that requests broke",
        "question": "questions of the session, by kind and answer",
        "recorded": "kinds of lines of chat recordings",
        "replay": "the course of the replay",
        "request": "declarations of a request, and repeated requests",
        "resume": "resumed sessions",
        "retry": "waits before another attempt, by cause",
        "sent": "kinds of parts in requests",
        "session": "several streams, several rounds of tools",
        "side": "changes of model and mode, refusals of a send",
        "skill": "skills",
        "steering": "messages to a model while it works",
        "subagent": "agents that a call started",
        "surface": "surfaces for users that showed the run",
        "switched": "another request to another model, by tiers",
        "tool": "tools that a model called, by their built-in names",
        "tool_end": "the last state of a call",
        "tool_error": "kinds of failed calls",
        "tool_result": "results by tool",
        "tool_state": "states of calls",
        "tool_step": "changes of the state of a call",
        "truncation": "long tool outputs cut or summarised on arrival",
        "workspace": "files that were written or deleted",
    }
)
"""Kind of probe to its meaning."""


def reached(seen: Observation) -> tuple[str, ...]:
    """Return the probes of a run, sorted, each once."""
    found = {
        *event_probes(seen),
        *retry_probes(seen),
        *state_probes(seen),
        *progress_probes(seen),
        *side_probes(seen),
        *request_probes(seen),
        *transcript_probes(seen),
        *recording_probes(seen),
        *workspace_probes(seen),
        *replay_probes(seen),
        *child_probes(seen),
        *surface_probes(seen),
    }
    return tuple(sorted(found))


def shared_probes(runs: Sequence[Observation]) -> frozenset[str]:
    """Return the probes that all runs showed; none without runs."""
    found = [frozenset(reached(run)) for run in runs]
    return frozenset.intersection(*found) if found else frozenset()
