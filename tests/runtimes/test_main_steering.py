"""What is injected while the main loop works: sent once, and kept where no request takes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from runtimes.contract import ConversationCommands, KeepsHints, Runtime
from services.state import HintsKept
from tests.runtimes.kit import Kit, Played

BIG = {"promptTokenCount": 1_048_576}
HINT = "look left"


def steered(
    kit: Kit,
    steps: list[Any],
    *sends: str,
    at: str = "tool_request",
    then: Callable[[Runtime], Any] | None = None,
    **settings: Any,
) -> tuple[Played, list[Any]]:
    """Give a hint at the first event of type `at`; call `then` after the first send.

    Returns:
        The run, and what was reported and taken: texts of `HintsKept`, prompts, `None`.
    """
    seen: list[Any] = []

    async def script(played: Played, runtime: Runtime) -> None:
        assert isinstance(runtime, ConversationCommands)
        assert isinstance(runtime, KeepsHints)
        hints = [HINT]

        def on_event(event: Any, _: object) -> None:
            if event.type == at and hints:
                runtime.hint(hints.pop(), "user_steering")

        def on_notice(event: object) -> None:
            if isinstance(event, HintsKept):
                seen.append(event.texts)

        played.services.events.subscribe(on_notice)
        agent = runtime.agent()
        kit.listen(agent, played, on_event)
        for number, words in enumerate(sends):
            await agent.send(kit.message(words))
            await runtime.settled()
            if number == 0 and then is not None:
                await then(runtime)
        seen.append(await runtime.take_hints())
        seen.append(await runtime.take_hints())

    played = kit.run(script, steps, interactive=True, model_steering=True, **settings)
    return played, seen


def look(kit: Kit) -> list[Any]:
    return [kit.parts_chunk(kit.call("read_file", {"file_path": "a.txt"}), finish="STOP")]


def hinted(played: Played) -> list[int]:
    """How often the hint stands in each request."""
    return [str(request.contents).count(HINT) for request in played.model.requests]


def test_a_hint_goes_with_the_results_and_is_sent_once(kit: Kit) -> None:
    steps = [look(kit), look(kit), [kit.text("x", "STOP")], [kit.text("y", "STOP")]]
    played, seen = steered(kit, steps, "one", "two")
    assert hinted(played) == [0, 1, 1, 1]
    assert seen == [None, None]


def test_a_hint_in_the_last_answer_is_reported_and_then_a_prompt(kit: Kit) -> None:
    played, seen = steered(kit, [[kit.text("x", "STOP")]], "one", at="message")
    # The first message is the user's own: the hint waits while the model answers.
    assert hinted(played) == [0]
    assert seen[0] == (HINT,)
    assert seen[1].startswith(f"User steering update:\n<user_input>\n{HINT}\n</user_input>\n")
    assert seen[2:] == [None]


@pytest.mark.parametrize("limit", ["turns", "window"])
def test_a_request_that_is_not_made_takes_no_hint(inner_kit: Kit, limit: str) -> None:
    kit = inner_kit
    settings: dict[str, Any] = {"max_session_turns": 2}
    called = look(kit)
    if limit == "window":
        settings = {"compression_threshold": 2}
        called[0]["usageMetadata"] = BIG
    steps = [[kit.text("x", "STOP")], called]
    played, seen = steered(kit, steps, "one", "two", **settings)
    assert played.ends[1][0] == ("max_turns" if limit == "turns" else "failed")
    assert hinted(played) == [0, 0]
    assert seen[0] == (HINT,)
    assert HINT in seen[1]


def test_a_new_conversation_forgets_what_waited(inner_kit: Kit) -> None:
    async def reset(runtime: Runtime) -> None:
        await runtime.reset()

    steps = [[inner_kit.text("x", "STOP")], look(inner_kit), [inner_kit.text("y", "STOP")]]
    played, seen = steered(inner_kit, steps, "one", "two", at="message", then=reset)
    assert hinted(played) == [0, 0, 0]
    assert seen == [(HINT,), None, None]


def test_an_abort_keeps_the_hint(inner_kit: Kit) -> None:
    kit, seen = inner_kit, list[Any]()

    async def script(played: Played, runtime: Runtime) -> None:
        assert isinstance(runtime, ConversationCommands)
        assert isinstance(runtime, KeepsHints)
        agent = runtime.agent()

        def on_event(event: Any, aborted: Any) -> None:
            if event.type == "tool_request":
                runtime.hint(HINT, "user_steering")
                kit.abort(aborted)

        kit.listen(agent, played, on_event)
        await agent.send(kit.message("one"))
        await runtime.settled()
        seen.append(await runtime.take_hints())

    played = kit.run(script, [look(kit)], interactive=True, model_steering=True)
    assert played.ends[0][0] == "aborted"
    assert HINT in seen[0]


@pytest.mark.parametrize("interactive", [True, False])
def test_only_an_interactive_session_keeps_hints(inner_kit: Kit, interactive: bool) -> None:
    taken: list[str | None] = []

    async def script(played: Played, runtime: Runtime) -> None:
        assert isinstance(runtime, ConversationCommands)
        assert isinstance(runtime, KeepsHints)
        runtime.hint(HINT, "user_steering")
        taken.append(await runtime.take_hints())

    inner_kit.run(script, [], interactive=interactive, model_steering=True)
    assert [HINT in (prompt or "") for prompt in taken] == [interactive]
