from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.cassette.load import build_cassette
from harness.faults.catalogue import faults
from harness.faults.force import in_force
from harness.parity.compare import compare_observations
from harness.replay.observation import Observation
from harness.replay.runner import run_cassette
from seeded_faults import Fault

REQUESTS_IN_EACH_MODE = 2


def two_modes() -> dict[str, Any]:
    """A session that goes on in another mode, with prompts and a call in each."""
    call = {"functionCall": {"name": "read_file", "args": {"file_path": "a.txt"}}}
    content = {"role": "model", "parts": [call]}
    reading = {"stream": [{"candidates": [{"content": content, "finishReason": "STOP"}]}]}
    answers = [reading, {"text": "ok"}]
    return {
        "cassette": 1,
        "name": "policy/two_modes",
        "session": {"model": "gemini-2.5-flash", "approval_mode": "plan"},
        "files": {"a.txt": "alpha\n"},
        "script": [{"send": "x"}, {"set_approval_mode": {"mode": "yolo"}}, {"send": "y"}],
        "model": answers * 2,
    }


def run(fault: Fault | None) -> Observation:
    document, root = two_modes(), Path("generated")
    cassette = build_cassette(document, root / f"{document['name']}.yaml", root)
    with in_force(fault, "legacy"):
        return run_cassette(cassette, "legacy")


def instructions(seen: Observation) -> list[str | None]:
    given = (request.system_instruction for request in seen.requests)
    return [text and seen.paths.mask_text(text) for text in given]


def test_what_system_instructions_say_is_not_compared_with_the_published_core() -> None:
    fault = faults()["system-instruction-made-once"]
    good, broken = run(None), run(fault)
    first, *_, last = instructions(good)

    assert fault.unobservable is not None
    assert first != last
    assert instructions(good) == [first] * REQUESTS_IN_EACH_MODE + [last] * REQUESTS_IN_EACH_MODE
    assert instructions(broken) == [first] * len(broken.requests)
    words = "another product's"
    assert compare_observations(good, broken).divergences
    assert not compare_observations(replace(good, words=words), broken).divergences
