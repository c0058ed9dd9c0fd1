"""`projected`: the parts of a run that a baseline keeps.

Baselines are projected when they are made, and so is the other side of a comparison. Replaced are:

- Paths: `<WS>`, `<HOME>` and so on, by the run's `RunPaths`, before anything is hashed.
- Secrets (`services/redaction`): masks of the same length.
- System instruction and tool declarations: their digests, as only these are compared.
- The environment context, any text that begins with `<session_context>`, up to the end of that
  frame: `<session_context> sha256:…`. It has the run's virtual date, masked paths, files of the
  cassette, and the operating system (node's `process.platform` in the published core). The system
  is hashed as `<OS>`, so that baselines can be compared on other systems. (Source: the published
  core's `utils/environmentContext.js`, our `services/prompts.py`.)
- Any text of more than 8 Ki characters: its beginning, its length and its SHA-256. Some runs
  overflow the context window, with a megabyte in every channel. (Such a text has no id that a
  projection rule would hide: tool outputs are cut long before.)
- Stack traces in events (`_meta.stack`): `<stack>`, as they name files of the machine.

Versions of interpreters are left out of `versions`, so that equal runs give equal files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any, Final

from harness.baseline.document import from_document, to_document
from harness.canonical import canonical, sha256_hex
from harness.replay.observation import Observation
from services.json_values import parse_json
from services.redaction import redacted_value
from services.wire import JsonObject

__all__ = ["projected"]

_MARK: Final = "<session_context>"
_FRAME: Final = re.compile(
    rf"\A{_MARK}(?! sha256:[0-9a-f]{{64}}).*?(?:</session_context>|\Z)", re.DOTALL
)
_SYSTEM: Final = re.compile(
    r"(operating system is:? )"
    r"(?:aix|android|cygwin|darwin|freebsd|linux|netbsd|openbsd|sunos|win32)\b"
)
_LONG: Final = 8 * 1024
_SHOWN: Final = 1000
_PROGRESS: Final = '{"isSubagentProgress":true'
_MACHINE: Final = frozenset({"node", "python"})


def projected(seen: Observation) -> Observation:
    """Return a copy of `seen` as a baseline keeps it; projecting twice has no further effect.

    Raises:
        FormatProblem: the run emitted wrong types, such as a token count in words.
    """
    document: JsonObject = json.loads(seen.paths.mask_json(canonical(to_document(seen))))
    document = redacted_value(document)
    events = [child.get("events", ()) for child in document.get("children", ())]
    for event in chain(document["events"], *events):
        meta = event.get("_meta")
        if isinstance(meta, dict) and isinstance(meta.get("stack"), str):
            meta["stack"] = "<stack>"
    contents = [request["newContents"] for request in document["requests"]]
    for holder, key in _texts([contents, document["transcript"], document["recording"]]):
        if holder[key].startswith(_MARK):
            holder[key] = _FRAME.sub(_hashed, holder[key])
    children = document.get("children", ())
    agents = {child["agentId"]: child["thread"] for child in children if child["agentId"]}
    for holder, key in _texts(document):
        if len(holder[key]) > _LONG:
            holder[key] = _progress(holder[key]) or _shortened(_by_thread(holder[key], agents))
    versions = {name: text for name, text in seen.versions.items() if name not in _MACHINE}
    kept = from_document(document, name=seen.name, runtime=seen.runtime, versions=versions)
    return replace(
        kept,
        words=seen.words,
        order=seen.order,
        times=seen.times,
        broken=seen.broken,
        deadline_passed=seen.deadline_passed,
    )


def _hashed(frame: re.Match[str]) -> str:
    text = _SYSTEM.sub(r"\1<OS>", frame[0], count=1)
    return f"{_MARK} sha256:{sha256_hex(text)}"


def _progress(text: str) -> str | None:
    """Shorten the texts in an agent's progress, which is JSON; return `None` for other texts."""
    if not text.startswith(_PROGRESS):
        return None
    try:
        shown = parse_json(text)
    except ValueError:
        return None
    for holder, key in _texts(shown):
        if len(holder[key]) > _LONG:
            holder[key] = _shortened(holder[key])
    return json.dumps(shown, ensure_ascii=False, separators=(",", ":"))


def _by_thread(text: str, agents: Mapping[str, str]) -> str:
    """Return a text with threads instead of agents' ids, which no rule could find in a hash."""
    for agent, thread in agents.items():
        text = text.replace(agent, f"<agent {thread}>")
    return text


def _shortened(text: str) -> str:
    return f"{text[:_SHOWN]}… {len(text)} characters, sha256:{sha256_hex(text)}"


def _texts(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every text in a JSON value with its container and key; callers may replace it."""
    pairs: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        pairs = list(value.items())
    elif isinstance(value, list):
        pairs = list(enumerate(value))
    for key, item in pairs:
        if isinstance(item, str):
            yield value, key
        else:
            yield from _texts(item)
