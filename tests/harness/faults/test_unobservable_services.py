from pathlib import Path
from typing import Any

from harness.cassette.load import build_cassette
from harness.faults.catalogue import faults
from harness.faults.force import in_force
from harness.parity.compare import observation_digest
from harness.replay.observation import Observation
from harness.replay.runner import run_cassette
from seeded_faults import Fault
from seeded_faults.patching import replaced
from services.state import UserFeedback

CHUNKS = 3


def answer_in_chunks() -> dict[str, Any]:
    """A session whose AfterModel hook fails at every chunk of an answer."""
    texts: list[dict[str, Any]]
    texts = [{"content": {"role": "model", "parts": [{"text": "a"}]}} for _ in range(CHUNKS)]
    texts[-1]["finishReason"] = "STOP"
    failing = {"type": "command", "command": "exit 1", "name": "failing"}
    hooks = {"AfterModel": [{"hooks": [failing]}]}
    return {
        "cassette": 1,
        "name": "hooks/failing",
        "session": {"model": "gemini-2.5-flash", "settings": {"hooks": hooks}},
        "script": [{"send": "x"}],
        "model": [{"stream": [{"candidates": [text]} for text in texts]}],
    }


def run(document: dict[str, Any], fault: Fault | None) -> tuple[Observation, int]:
    """The observation, and the number of messages to the user."""
    messages: list[UserFeedback] = []

    def counting(emit: Any) -> Any:
        def counted(self: Any, event: Any) -> None:
            if isinstance(event, UserFeedback):
                messages.append(event)
            emit(self, event)

        return counted

    root = Path("generated")
    cassette = build_cassette(document, root / f"{document['name']}.yaml", root)
    with in_force(fault, "legacy"), replaced("services.state:CoreEvents.emit", counting):
        return run_cassette(cassette, "legacy"), len(messages)


def test_the_number_of_messages_about_a_failing_hook_is_on_no_channel() -> None:
    fault = faults()["failing-hook-told-at-every-chunk"]
    good, messages = run(answer_in_chunks(), None)
    broken, messages_when_broken = run(answer_in_chunks(), fault)

    assert fault.unobservable is not None
    assert (messages, messages_when_broken) == (1, CHUNKS)
    assert observation_digest(good) == observation_digest(broken)
