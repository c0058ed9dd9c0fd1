"""What stands beside an accepted difference is not accepted with it.

For each waiver: a difference that a user would notice, as near to the waiver as it can be.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import pytest

from harness.parity.divergence import ABSENT, ChannelName, Divergence, Kind
from harness.parity.waiver import Waiver
from parity_tests.corpus import WAIVERS
from services.wire import Json


class Beside(NamedTuple):
    """A difference that its waiver must not cover; the rest is as in the waiver."""

    path: str
    control: Json
    candidate: Json
    cassette: str = "distillation/any"
    kind: Kind | None = None


_OUTPUT: Final = "<HOME>/tool-outputs/session-1/shell_1.txt"
_EMPTY: Final = "text/empty_message"
_CONSECA: Final = "Trusted Tools (Context): all"

_FEEDBACK: Final = {"side": {"event": "feedback", "message": "it failed"}}
_SENT: Final = {"item": {"request": "POST /rpc", "body": {"method": "message/stream"}}}

BESIDE: Final = {
    "yaml-reader-words": Beside("side.message", "a", "b", "subagent_definitions/any"),
    "warning-about-calls-of-agents": Beside("", ABSENT, _FEEDBACK, "subagent_tools/any"),
    "toml-reader-words": Beside("side.message", "a", "b", "policy/any"),
    "remote-agent-failure-words": Beside("side.message", "a", "b", "subagent_remote/any"),
    "remote-task-cancelled": Beside("", ABSENT, _SENT, "subagent_remote/aborted_any"),
    "tool-description-shown": Beside("display.description", "Delete all of src", "Delete a"),
    "tool-description-recorded": Beside("line.toolCalls[0].description", "Delete all", "Delete a"),
    "empty-message-stalls": Beside("stalled", False, True, _EMPTY),
    "empty-message-error": Beside("error", "the run stalled: …", "ValueError: no", _EMPTY),
    "empty-message-step": Beside("unusedSteps[0]", ABSENT, 0, _EMPTY),
    "empty-message-request": Beside("", {"role": "main"}, ABSENT, _EMPTY, Kind.MISSING),
    "empty-message-history-part": Beside("parts[0]", {"text": "x"}, ABSENT, _EMPTY),
    "empty-message-history": Beside("", {"role": "user"}, ABSENT, _EMPTY, Kind.MISSING),
    "empty-message-recorded": Beside("", {"type": "user"}, ABSENT, _EMPTY, Kind.MISSING),
    "empty-message-events": Beside("", {"type": "error"}, ABSENT, _EMPTY, Kind.MISSING),
    "empty-message-sent": Beside("contentsSent", 0, 2, _EMPTY),
    "empty-message-calls": Beside("modelCalls.generateContentStream(main)", 1, 2, _EMPTY),
    "utility-schema-words": Beside("config.responseJsonSchema.properties.next.type", "a", "b"),
    "conseca-own-words": Beside("contents[0].parts[0].text", _CONSECA, "", "tools/conseca_on"),
    "context-manager-calibrates": Beside(
        "", {"method": "generateContentStream", "role": "main"}, ABSENT, kind=Kind.MISSING
    ),
    "context-manager-calibration-noted": Beside(
        "notes[0]", "no step of the cassette answers request 1 (generateContent(main))", ABSENT
    ),
    "context-manager-splits-prompt": Beside("contents[2].parts[1]", {"text": "more"}, ABSENT),
    "context-manager-names-output-asked": Beside(
        "contents[0].functionResponse.response.output", _OUTPUT, "nothing"
    ),
    "context-manager-names-output-summed-up-asked": Beside(
        "contents[0].functionResponse.response.output",
        f"{_OUTPUT} Strategic Significance: much",
        _OUTPUT,
    ),
    "context-manager-signs": Beside("parts[0].thoughtSignature", "the model's own", ABSENT),
    "context-manager-names-output": Beside(
        "parts[0].functionResponse.response.output", _OUTPUT, "nothing"
    ),
    "context-manager-names-output-summed-up": Beside(
        "parts[0].functionResponse.response.output",
        f"{_OUTPUT} Strategic Significance: much",
        _OUTPUT,
    ),
    "context-manager-checkpoints": Beside(
        "", {"file": 0, "line": {"type": "user"}}, ABSENT, kind=Kind.MISSING
    ),
    "context-manager-recorded": Beside("line.content[0].text", "Go on", "Stop"),
    "context-manager-output-file": Beside("data.toolName", "read_file", "glob"),
    "context-manager-output-length": Beside("content[0].text", "hello", "bye"),
    "context-manager-cost-sent": Beside("tokens.inputTokens", 10, 11),
    "context-manager-cost-calls": Beside("modelCalls.countTokens(main)", 2, 1),
}


def test_every_waiver_has_a_difference_beside_it() -> None:
    assert {waiver.id for waiver in WAIVERS.entries} == set(BESIDE)


@pytest.mark.parametrize("waiver", WAIVERS.entries, ids=lambda waiver: waiver.id)
def test_the_difference_beside_a_waiver_is_accepted_by_none(waiver: Waiver) -> None:
    beside = BESIDE[waiver.id]
    found = Divergence(
        cassette=beside.cassette,
        channel=ChannelName(waiver.channel),
        kind=beside.kind or Kind(waiver.kind or Kind.CHANGED),
        path=beside.path,
        control=beside.control,
        candidate=beside.candidate,
    )

    covering = [each.id for each in WAIVERS.entries if each.fits(found, ("upstream", "legacy"))]

    assert covering == []


@pytest.mark.parametrize("sides", [("legacy", "adk"), ("legacy+legacy", "adk+legacy")])
def test_no_waiver_accepts_anything_between_our_own_runtimes(sides: tuple[str, str]) -> None:
    assert [waiver.id for waiver in WAIVERS.entries if waiver.concerns(sides)] == []
