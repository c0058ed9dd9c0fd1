from datetime import date
from pathlib import Path

import pytest

from harness.cassette.document import parse_document, read_text
from harness.parity.waivers import Waivers
from harness.scenarios.judging import fault_named
from harness.scenarios.shrinking import shrink, size_of
from harness.scenarios.trial import Trial, try_document
from tests.harness.scenarios.shrinking.descending import Document

HERE = Path(__file__).parent
DROPPED = fault_named("usage-dropped")


def judge(document: Document) -> Trial:
    waivers = Waivers(as_of=date(2026, 1, 1))
    return try_document(document, "legacy", "adk", waivers, fault=DROPPED, root=HERE)


# By day each step has its tests on made-up findings, and `generating/test_campaign.py` shrinks one
# that a seeded fault causes.
@pytest.mark.slow
def test_a_seeded_finding_shrinks_to_its_known_minimum() -> None:
    document = parse_document(read_text(HERE / "generated" / "seeded_finding.yaml"))
    found = judge(document)
    assert size_of(found.document).turns > 10

    shrunk = shrink(document, judge, fingerprint=str(found.fingerprint), enough=lambda: False)

    assert shrunk.finished
    assert not shrunk.flaky
    assert shrunk.document["script"] == [{"send": "ok"}]
    (step,) = shrunk.document["model"]
    (chunk,) = step["stream"]
    assert chunk["candidates"] == [
        {"content": {"role": "model", "parts": [{"text": "ok"}]}, "finishReason": "STOP"}
    ]
    assert set(chunk) == {"candidates", "usageMetadata"}
    assert set(step) == {"stream"}
    assert set(shrunk.document) == {
        *("cassette", "name", "note", "phase", "provenance", "session", "script", "model")
    }
    assert shrunk.document["session"] == {"model": "gemini-2.5-flash"}
