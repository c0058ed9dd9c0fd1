"""Faults of the runtimes, written after the corpus: loops, limits, and what follows by itself."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any, Final

from agent_protocol.content import TextPart
from agent_protocol.events import Message
from harness.faults.altered import Altered
from harness.faults.fault import Behaviour, Fault, Site
from harness.faults.patching import replaced
from services.history.transforms import has_function_response
from services.loop_detection.detector import LoopVerdict

__all__ = ["FAULTS"]

_legacy = partial(Fault, site=Site.LEGACY, behaviour=Behaviour.LOOPS, held_out=True)
_adk = partial(Fault, site=Site.ADK, behaviour=Behaviour.LOOPS, held_out=True)


def _asking_over_calls(continuation: Any) -> Any:
    def broken(self: Any, turn: Any, *args: Any) -> Any:
        return continuation(self, Altered(turn, answer=Altered(turn.answer, calls=[])), *args)

    return broken


def _thoughts_as_text(watched: Any) -> Any:
    def broken(self: Any, event: Any) -> Any:
        if type(event).__name__ == "ThoughtText":
            return self._loops.add_text(event.description)
        return watched(self, event)

    return broken


def _one_event_late(watched: Any) -> Any:
    def broken(self: Any, event: Any) -> Any:
        late, self.late = getattr(self, "late", LoopVerdict()), watched(self, event)
        if late.count:
            self.late = LoopVerdict()
        return late

    return broken


def _counting_anew(reset: Any) -> Any:
    async def broken(self: Any) -> None:
        await reset(self)
        self._factory._session_turns.count = 0

    return broken


def _telling_follow_ups(after: Any) -> Any:
    async def broken(self: Any, stream: Any, run: Any) -> Any:
        following = await after(self, stream, run)
        if isinstance(following, list) and not has_function_response({"parts": following}):
            said = tuple(TextPart(text=part.get("text") or "") for part in following)
            stream.emit(Message(**stream.translator.fields(), role="user", content=said))
        return following

    return broken


def _as_turns_of_their_own(follow_up: Any) -> Any:
    def broken(self: Any) -> None:
        follow_up(self)
        self.follows_up = False

    return broken


def _not_cutting_off(_: Any) -> Any:
    def broken(self: Any, verdict: Any) -> None:
        self.loop = verdict

    return broken


def _counting_refused(refused: Any) -> Any:
    def broken(self: Any, *args: Any) -> Any:
        self._max_turns._session.count += 1
        return refused(self, *args)

    return broken


def _forgetting_repetitions(start: Any) -> Any:
    def broken(self: Any, *args: Any) -> None:
        start(self, *args)
        self.loops.reset(self._services.state.last_prompt_id or "")

    return broken


def _still_seeing_text(begin_turn: Any) -> Any:
    def broken(self: Any) -> None:
        seen = self.visible_text
        begin_turn(self)
        self.answers.append(SimpleNamespace(calls=(), finish_reason=None, visible_text=seen))

    return broken


FAULTS: Final = (
    _legacy(
        name="next-speaker-asked-over-calls",
        says="Who speaks next is asked though the answer has calls that wait to be run.",
        origin="a condition lost when the check moved behind the turn",
        breaks=lambda: replaced(
            "runtimes.legacy.client:GeminiClient._continuation", _asking_over_calls
        ),
    ),
    _legacy(
        name="thoughts-watched-for-chanting",
        says="A thought that comes again and again is taken for a loop of the answer.",
        origin="a watch that takes everything with a text for what the model says",
        breaks=lambda: replaced("runtimes.legacy.client:GeminiClient._watched", _thoughts_as_text),
    ),
    _legacy(
        name="loop-noticed-one-event-late",
        says="The fragment or call that closes a loop is told before the loop is noticed.",
        origin="a watch that looks at what was told instead of at what is about to be",
        breaks=lambda: replaced("runtimes.legacy.client:GeminiClient._watched", _one_event_late),
    ),
    _adk(
        name="limit-begins-anew-at-reset",
        says="After a reset the session's limit of turns counts from nothing.",
        origin="counters that moved into what a reset makes anew",
        breaks=lambda: replaced("runtimes.adk.runtime:AdkRuntime.reset", _counting_anew),
    ),
    _adk(
        name="follow-ups-told-as-the-users",
        says="What the loop sends by itself is told to clients as a message of the user's.",
        origin="google-adk's user events, which do not say who typed them",
        breaks=lambda: replaced(
            "runtimes.adk.continuation:Continuation.after", _telling_follow_ups
        ),
    ),
    _adk(
        name="follow-ups-count-as-turns",
        says="What follows by itself is a turn of its own: it counts, and loses calls before it.",
        origin="google-adk's invocations, each of which looks like a turn",
        breaks=lambda: replaced("runtimes.adk.run:Run.follow_up", _as_turns_of_their_own),
    ),
    _adk(
        name="loop-does-not-cut-off-the-answer",
        says="An answer in a loop is read to its end and kept.",
        origin="google-adk's plugins, which can change an event and not end its stream",
        breaks=lambda: replaced("runtimes.adk.run:Step.cut_off", _not_cutting_off),
    ),
    _adk(
        name="refused-prompts-count",
        says="A prompt that a hook refuses counts against the session's limit of turns.",
        origin="counting and asking hooks in the other order",
        closed_by="limits/turns_and_blocked_prompts",
        breaks=lambda: replaced(
            "runtimes.adk.processors.conversation:LimitsProcessor._refused", _counting_refused
        ),
    ),
    _adk(
        name="compression-forgets-repetitions",
        says="A compression in the middle of a prompt makes the loop detector forget the calls.",
        origin="a detector that lives as long as a chat instead of as long as the conversation",
        breaks=lambda: replaced(
            "runtimes.adk.conversation:Conversation.start", _forgetting_repetitions
        ),
    ),
    _adk(
        name="text-before-tools-counts-after-them",
        says="An empty answer to tool results passes where there was text before the tools.",
        origin="a flag of the turn that is not cleared with it",
        closed_by="tools/empty_after_text_and_response",
        breaks=lambda: replaced("runtimes.adk.run:Run.begin_turn", _still_seeing_text),
    ),
)
