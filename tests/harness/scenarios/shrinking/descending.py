"""Runs a pass as `shrink` does, with a rule instead of two runtimes; and makes small documents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.parity.divergence import ChannelName, Divergence, Kind
from harness.parity.verdict import CaseResult
from harness.scenarios.shrinking.descents import Pass
from harness.scenarios.trial import Trial

Document = dict[str, Any]
DIVERGENCE = Divergence(cassette="a/b", channel=ChannelName.EVENTS, kind=Kind.MISSING, label="x")
FINGERPRINT = DIVERGENCE.fingerprint
HOOK = {"type": "command", "command": "echo a; rm -rf b"}
HOOKS = {"BeforeTool": [{"matcher": "x", "hooks": [HOOK, HOOK]}, {"hooks": [HOOK]}]}
FAILURE = {"status": 502, "message": "long words", "grpc": "UNKNOWN", "details": [{"a": 1}]}


def down(each: Pass, document: Document, wanted: Callable[[Document], bool]) -> Document:
    """The last document of the pass; `wanted` decides which candidates are kept."""
    descent = each.descend(document)
    try:
        candidate = next(descent)
        while True:
            candidate = descent.send(wanted(candidate))
    except StopIteration as end:
        kept: Document = end.value
        return kept


def cassette(**keys: Any) -> Document:
    """A cassette document with these keys."""
    return {
        "cassette": 1,
        "name": "a/b",
        "session": {"model": "gemini-2.5-flash"},
        "script": [{"send": "ok"}],
        "model": [{"text": "ok"}],
        **keys,
    }


def chunk(*parts: Document, **keys: Any) -> Document:
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, **keys}]}


def call(name: str = "read_file", **args: Any) -> Document:
    return {"functionCall": {"name": name, "args": args}}


def trial(document: Document, *, shows: bool, **facts: Any) -> Trial:
    """A trial of `document` with the finding, or at parity."""
    found = (DIVERGENCE,) if shows else ()
    return Trial(
        document={"unused": [], **document},
        result=CaseResult(cassette="a/b", divergences=found),
        reached=frozenset(),
        run_s=0.0,
        compare_s=0.0,
        **facts,
    )


def stream(*chunks: Document, **keys: Any) -> Document:
    """A cassette whose model answers with these chunks."""
    return cassette(model=[{"stream": list(chunks), **keys}])


def always(_: Document) -> bool:
    """Keeps every document."""
    return True
