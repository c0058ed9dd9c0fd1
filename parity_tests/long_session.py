"""A long working session, as cassettes: whole, or in two halves: the second one resumes.

Two hundred prompts, sixty large tool outputs, two models that give out, a compression: all limits
have their defaults, so the outputs are large enough to be cut, and old ones to be masked.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from harness.cassette.format import Cassette
from harness.cassette.load import build_cassette
from harness.replay.observation import Observation

__all__ = [
    "COMPRESSED_AFTER",
    "HALF",
    "LONG_LOOP_AT",
    "OUT_OF_CAPACITY_AT",
    "OUT_OF_QUOTA_AT",
    "PROMPTS",
    "first_half",
    "large_outputs",
    "second_half",
    "whole_session",
]

PROMPTS: Final = 200
HALF: Final = 100
COMPRESSED_AFTER: Final = 70
"""The prompt whose answer says that half of the window is full."""
LONG_LOOP_AT: Final = 121
"""The prompt that leads to one call after the other."""
OUT_OF_QUOTA_AT: Final = 40
OUT_OF_CAPACITY_AT: Final = 150
"""The prompts at which the model gives out, and another takes its place."""

_MODEL: Final = "gemini-3.1-flash-lite"
"""Its chain goes on to other models without anybody being asked."""
_STORES: Final = 15
_EXTRA_ROUNDS: Final = 12
_WORDS: Final = (
    "amber barrel copper damson elder fennel ginger hazel indigo juniper kettle lantern marble "
    "nettle orchid pepper quartz rosemary saffron thistle umber velvet walnut yarrow zinc"
)

Tree = dict[str, Any]

_NO_LOOP: Final[Tree] = {
    "json": {"unproductive_state_analysis": "It moves on.", "unproductive_state_confidence": 0.1},
    "role": "utility_loop_detector",
    "repeat": 40,
}


def whole_session() -> Cassette:
    """The session without a break."""
    return _cassette("long/whole", range(PROMPTS))


def first_half() -> Cassette:
    """Its first hundred prompts."""
    return _cassette("long/first", range(HALF))


def second_half(first: Observation) -> Cassette:
    """The other hundred, in a process that begins with the chat recording of the first.

    Args:
        first: a run of `first_half`, in whichever runtime.
    """
    (lines,) = first.recording.values()
    records = json.loads(first.paths.mask_json(json.dumps(lines)))
    return _cassette("long/second", range(HALF, PROMPTS), resume={"records": records})


def large_outputs(prompts: Sequence[int] = range(PROMPTS)) -> int:
    """How many large tool outputs these prompts lead to."""
    return sum(len(calls) for prompt in prompts for calls in _rounds(prompt))


def _cassette(name: str, prompts: range, **more: Any) -> Cassette:
    tree: Tree = {
        "cassette": 1,
        "name": name,
        "phase": "A",
        "session": {"model": _MODEL, "approval_mode": "yolo"},
        "files": dict(_files()),
        "script": [action for prompt in prompts for action in _actions(prompt, prompts)],
        "match": "by_role",
        "model": [*(step for prompt in prompts for step in _steps(prompt)), _NO_LOOP],
        **more,
    }
    return build_cassette(tree, Path(f"{name}.yaml"), Path())


def _actions(prompt: int, prompts: range) -> Iterator[Tree]:
    if prompt == HALF and prompt != prompts[0]:
        # A process that resumes begins with the model of the settings again.
        yield {"set_model": {"model": _MODEL}}
    yield {"send": f"Prompt {prompt}: {_sentence('ask', prompt)}"}


def _files() -> Iterator[tuple[str, str]]:
    """Files that are read (each under the limit of what is cut), and files that are printed."""
    for store in range(_STORES):
        yield f"store_{store}.txt", _lines("shelf", store, 640)
        yield f"ledger_{store}.txt", _lines("entry", store, 1200)


def _lines(prefix: str, store: int, count: int) -> str:
    return "".join(f"{prefix} {line}: {_sentence(prefix, store, line)}\n" for line in range(count))


def _sentence(*about: object) -> str:
    """Five words that depend on what they are about: nothing looks like a loop."""
    words = _WORDS.split()
    digest = hashlib.sha256(repr(about).encode()).digest()
    return " ".join(words[byte % len(words)] for byte in digest[:5])


def _rounds(prompt: int) -> list[list[Tree]]:
    """The calls that a prompt leads to, answer by answer of the model.

    One with every fifth prompt, every fifth of them with a second beside it; and one prompt goes
    on for so long that outputs of its own are masked before it is done.
    """
    if prompt % 5 != 1:
        return []
    more = _EXTRA_ROUNDS if prompt == LONG_LOOP_AT else 0
    rounds = []
    for place in range(1 + more):
        number = prompt // 5 + place
        store = number % _STORES
        read = {"name": "read_file", "args": {"file_path": f"store_{store}.txt"}}
        printed = {"name": "run_shell_command", "args": {"command": f"cat ledger_{store}.txt"}}
        calls = [printed if number % 4 == 3 else read]
        if number % 5 == 0 and not more:
            calls.append(printed if calls[0] is read else read)
        rounds.append(
            [{"id": f"call-{prompt}-{place}-{beside}", **call} for beside, call in enumerate(calls)]
        )
    return rounds


def _steps(prompt: int) -> Iterator[Tree]:
    if prompt == OUT_OF_QUOTA_AT:
        yield _quota()
    if prompt == OUT_OF_CAPACITY_AT:
        error = {"status": 429, "message": "MODEL_CAPACITY_EXHAUSTED"}
        yield {"error": error, "role": "main", "repeat": 3}
    for place, calls in enumerate(_rounds(prompt)):
        thought = {"text": f"**Look** {_sentence('thought', prompt, place)}", "thought": True}
        yield _stream([thought], [{"functionCall": call} for call in calls])
    full = prompt == COMPRESSED_AFTER
    yield _stream(
        [{"text": f"Answer {prompt}: "}],
        [{"text": _sentence("answer", prompt)}],
        tokens=600_000 if full else 20_000 + prompt,
    )
    if full:
        snapshot = "<state_snapshot>\n<goal>Know the stores</goal>\n</state_snapshot>"
        yield {"json": snapshot, "role": "utility_compressor", "repeat": 2}


def _stream(*chunks: Sequence[Mapping[str, Any]], tokens: int = 20_000) -> Tree:
    found: list[Tree] = [
        {"candidates": [{"content": {"role": "model", "parts": list(parts)}}]} for parts in chunks
    ]
    found[-1]["candidates"][0]["finishReason"] = "STOP"
    found[-1]["usageMetadata"] = {
        "promptTokenCount": tokens,
        "candidatesTokenCount": 10,
        "totalTokenCount": tokens + 10,
    }
    return {"stream": found, "role": "main"}


def _quota() -> Tree:
    violation = {"subject": "s", "description": "d", "quotaId": "RequestsPerDayPerProject"}
    failure = {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]}
    error = {"status": 429, "message": "No more today", "details": [failure]}
    return {"error": error, "role": "main"}
