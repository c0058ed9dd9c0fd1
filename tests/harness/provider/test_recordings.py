"""The rules against what the real API accepted: every recorded request, and no error in any.

The recordings lie beside the checkout; these tests skip where they are absent.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.http.exchanges import RawExchange
from harness.http.formats import read_exchanges
from harness.http.recorded_yaml import load_documents
from harness.provider.check import ProviderCheck
from harness.provider.rules import RULES, ProviderFinding, Severity
from services.abort import AbortController
from services.model.generator import LlmRole, ModelRequest

RECORDINGS = Path(__file__).parents[4] / "shared" / "recordings"

pytestmark = pytest.mark.skipif(
    not RECORDINGS.is_dir(), reason="needs ../shared/recordings beside the checkout"
)

ASKS = re.compile(r"/models/([^/:?]+):(?:streamG|g)enerateContent")
SNAKE = re.compile(r"(?<=[a-z])_([a-z])")
DATA = {"args", "response", "properties"}
"""Keys below which names are the recorded program's own."""


def camel(value: Any) -> Any:
    """The API takes both spellings of its keys; the rules know the one that we send."""
    if isinstance(value, list):
        return [camel(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        SNAKE.sub(lambda found: found[1].upper(), key): item if key in DATA else camel(item)
        for key, item in value.items()
    }


def accepted() -> Iterator[tuple[Path, ModelRequest]]:
    """Every recorded question to a model that was answered."""
    for file in sorted(RECORDINGS.rglob("*.y*ml")):
        read = read_exchanges(load_documents(file))
        for exchange in read[1] if read is not None else ():
            if isinstance(exchange, RawExchange) and exchange.status == 200:
                asked = ASKS.search(exchange.url)
                body = camel(exchange.request)
                if asked is not None and isinstance(body, dict):
                    yield file, request(asked[1], body)


def request(model: str, body: dict[str, Any]) -> ModelRequest:
    config = {**(body.get("generationConfig") or {}), "tools": body.get("tools") or []}
    contents = body["contents"]
    return ModelRequest(
        model=model,
        contents=contents if isinstance(contents, list) else [contents],
        role=LlmRole.MAIN,
        prompt_id="p",
        signal=AbortController().signal,
        config=config,
    )


@pytest.fixture(scope="module")
def findings() -> list[tuple[str, ProviderFinding]]:
    found = []
    count = 0
    for file, asked in accepted():
        count += 1
        name = file.relative_to(RECORDINGS).as_posix()
        found += [(name, each) for each in ProviderCheck().examine(asked)]
    assert f"all {count} accepted recorded requests" in RULES["first-not-user"].evidence
    return found


def test_no_accepted_request_is_an_error(findings: list[tuple[str, ProviderFinding]]) -> None:
    assert [
        (file, each.rule, each.path) for file, each in findings if each.severity is Severity.ERROR
    ] == []


def test_what_evidence_says_of_recordings_is_there(
    findings: list[tuple[str, ProviderFinding]],
) -> None:
    seen = Counter(each.rule for _, each in findings)
    assert {rule.id for rule in RULES.values() if rule.severity is Severity.WARNING} == set(seen)
    for rule in RULES.values():
        for name in re.findall(r"\w+\.yaml", rule.evidence):
            assert rule.id in {each.rule for file, each in findings if file.endswith(name)}
        for number in re.findall(r"recording: (\d+) accepted", rule.evidence):
            assert seen[rule.id] == int(number)
