"""A green run is worth what it could have caught: break a runtime, and see it found and named."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from agent_protocol.events import AgentEvent
from harness.explain import explain, first_cause
from harness.parity.divergence import ChannelName, Divergence
from harness.parity.verdict import CaseVerdict
from parity_tests.corpus import cassette, judge


def broken(name: str) -> Divergence:
    """Judge the cassette; it must diverge, and the explanation must name cassette and channel."""
    result = judge(cassette(name))
    assert result.verdict is CaseVerdict.DIVERGENT
    cause = first_cause(result)
    assert cause is not None
    words = "\n".join(explain(result, "legacy", "adk"))
    assert cause.channel in words
    assert cause.cassette == name
    return cause


@pytest.mark.contract("P-012")
def test_a_dropped_usage_event_is_found_in_the_events(monkeypatch: pytest.MonkeyPatch) -> None:
    from runtimes.legacy import translate

    whole = translate.StreamTranslator.translate

    def lossy(self: translate.StreamTranslator, event: Any) -> Iterator[AgentEvent]:
        return (found for found in whole(self, event) if found.type != "usage")

    monkeypatch.setattr(translate.StreamTranslator, "translate", lossy)

    cause = broken("text/thought_usage")

    assert cause.channel is ChannelName.EVENTS
    assert cause.label.startswith("usage")


@pytest.mark.contract("P-009")
def test_a_consolidated_text_emitted_twice_is_found_in_the_events(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from agent_protocol.content import TextPart
    from agent_protocol.events import Message
    from runtimes.adk.notes import Answer, note_of
    from runtimes.adk.quiet import import_quietly

    translator = import_quietly("runtimes.adk.translate").EventTranslator
    whole = translator.translate

    def stammering(self: Any, event: Any, *args: Any) -> Iterator[AgentEvent]:
        yield from whole(self, event, *args)
        note = note_of(event)
        if isinstance(note, Answer) and note.turn.response_text:
            text = TextPart(text=note.turn.response_text)
            yield Message(**self.fields(), role="agent", content=(text,))

    monkeypatch.setattr(translator, "translate", stammering)

    cause = broken("text/text")

    assert cause.channel is ChannelName.EVENTS
    assert cause.label.startswith("message")


@pytest.mark.contract("P-025")
def test_a_forgotten_retry_nudge_is_found_in_the_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    from runtimes.legacy import chat

    monkeypatch.setattr(chat, "retry_nudge", lambda error: None)

    cause = broken("invalid_stream/thinking_only_then_ok")

    assert cause.channel is ChannelName.REQUESTS
    assert "previously generated thoughts" in str(cause.candidate)


@pytest.mark.contract("P-074")
def test_a_retry_too_few_is_found_in_the_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    from runtimes.legacy import chat

    monkeypatch.setattr(chat, "_MID_STREAM_ATTEMPTS", 3)

    cause = broken("errors/midstream_500_exhausted")

    assert cause.channel in {ChannelName.REQUESTS, ChannelName.RETRIES}


@pytest.mark.contract("P-033")
def test_a_tool_result_that_history_loses_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from runtimes.legacy import agent

    whole = agent._Stream._answer

    def forgetful(self: Any, completed: Any) -> list[dict[str, Any]]:
        return whole(self, completed)[:1]

    monkeypatch.setattr(agent._Stream, "_answer", forgetful)

    assert broken("tools/parallel_reads").channel is ChannelName.REQUESTS


def test_a_missing_rollback_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from runtimes.legacy import chat

    monkeypatch.setattr(chat.GeminiChat, "fail", lambda *args, **kwargs: None)

    assert broken("errors/400").channel is ChannelName.REQUESTS
