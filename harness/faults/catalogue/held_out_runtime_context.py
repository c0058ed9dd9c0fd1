"""Faults of the runtimes, written after the corpus: histories, recordings, what they become."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Final

from harness.faults.altered import Altered
from harness.faults.fault import Behaviour, Fault, Site
from harness.faults.patching import replaced
from services.abort import AbortController
from services.prompts import ENVIRONMENT_CONTEXT_ID

__all__ = ["FAULTS"]

_legacy = partial(Fault, site=Site.LEGACY, behaviour=Behaviour.CONTEXT, held_out=True)
_adk = partial(Fault, site=Site.ADK, behaviour=Behaviour.CONTEXT, held_out=True)


def _by_threshold(_: Any) -> Any:
    async def broken(self: Any) -> None:
        prompt_id = f"compress-{self._services.clock.now_ms()}"
        await self._chats.compress(prompt_id, AbortController().signal)

    return broken


def _masking_at_once(compress: Any) -> Any:
    async def broken(self: Any, *args: Any, force: bool = False) -> Any:
        info = await compress(self, *args, force=force)
        if not force:
            self._current.mask()
        return info

    return broken


def _as_messages(assembler: Any) -> Any:
    def broken(**kwargs: Any) -> Any:
        made = assembler(**kwargs)

        def finish() -> Any:
            turn = made.finish()
            return Altered(turn, recorded_as_message=bool(turn.response_text))

        return Altered(made, finish=finish)

    return broken


def _same_recording(_: Any) -> Any:
    def broken(self: Any) -> None:
        self.start(None, self._own_recording())

    return broken


def _environment_again(resume: Any) -> Any:
    def broken(self: Any, file: Any) -> None:
        start = self.start

        def started(turns: Any, resumed: Any) -> None:
            messages = resumed.conversation.messages
            if any(message.get("id") == ENVIRONMENT_CONTEXT_ID for message in messages):
                turns = [self.environment(), *turns]
            start(turns, resumed)

        self.start = started
        try:
            resume(self, file)
        finally:
            del self.start

    return broken


def _clamped(rewind: Any) -> Any:
    def broken(self: Any, to: Any) -> None:
        messages = self._current.recording.messages
        own = [message for message in messages if message.get("type") == "user"]
        rewind(self, min(to, len(own) - 1) if isinstance(to, int) and own else to)

    return broken


def _masked_first(order: Any) -> Any:
    others = [name for name in order if name != "tool_output_masking"]
    place = others.index("compression")
    return (*others[:place], "tool_output_masking", *others[place:])


def _start_kept(start: Any) -> Any:
    def broken(self: Any, *args: Any) -> None:
        kept = self._prompt_start
        start(self, *args)
        self._prompt_start = kept

    return broken


def _added(resume: Any) -> Any:
    def broken(self: Any, file: Any) -> None:
        kept = self.history()
        resume(self, file)
        self.become([*kept, *self.history()])

    return broken


def _history_left(rewind: Any) -> Any:
    def broken(self: Any, to: Any) -> None:
        self.become = lambda turns: None
        try:
            rewind(self, to)
        finally:
            del self.become

    return broken


def _inverted(run: Any) -> Any:
    def broken(self: Any, *args: Any) -> Any:
        given = self.given = getattr(self, "given", self._services)
        managed = given.settings.context_management
        settings = Altered(given.settings, context_management=not managed)
        self._services = replace(given, settings=settings)
        return run(self, *args)

    return broken


def _with_the_answer(answer: Any) -> Any:
    def broken(self: Any, turn: Any, model: Any) -> None:
        answer(self, turn, model)
        usage = turn.usage or {}
        if usage.get("promptTokenCount") is not None:
            counted = self.last_prompt_token_count
            self.last_prompt_token_count = usage.get("totalTokenCount") or counted

    return broken


def _under_routed_model(answer: Any) -> Any:
    def broken(self: Any, turn: Any, model: Any) -> None:
        answer(self, turn, self._services.state.sequence_model or model)

    return broken


def _binary_joined(take: Any) -> Any:
    def broken(self: Any, content: Any) -> None:
        before = len(self._ids)
        take(self, content)
        turns = self.history()[before:]
        if len(turns) > 1:
            del self._ids[before:]
            self.view.truncate(before)
            for turn_id, turn in turns:
                if turn.get("role") != "model":
                    self.push(turn_id, turn)

    return broken


FAULTS: Final = (
    _legacy(
        name="compress-command-minds-threshold",
        says="A compression that the user asks for is not made while the history is short.",
        origin="a parameter with a default, lost on the way",
        breaks=lambda: replaced("runtimes.legacy.runtime:LegacyRuntime.compress", _by_threshold),
    ),
    _legacy(
        name="room-counted-after-masking",
        says="What room the window has is counted after old outputs are masked, not before.",
        origin="two lines in the other order, which reads as well",
        closed_by="limits/overflow_then_masked",
        breaks=lambda: replaced("runtimes.legacy.chats:Chats.compress", _masking_at_once),
    ),
    _legacy(
        name="calls-alone-recorded-as-synthetic",
        behaviour=Behaviour.RECORDING,
        says="An answer that consists of calls is not recorded as a message of the model's.",
        origin="an empty text taken for an empty answer",
        breaks=lambda: replaced("runtimes.legacy.chat:StreamAssembler", _as_messages),
    ),
    _legacy(
        name="reset-goes-on-in-the-recording",
        behaviour=Behaviour.RECORDING,
        says="A conversation that was reset goes on in the recording that there is.",
        origin="a reset that does what a compression does",
        breaks=lambda: replaced("runtimes.legacy.chats:Chats.reset", _same_recording),
    ),
    _legacy(
        name="environment-twice-after-resume",
        behaviour=Behaviour.RECORDING,
        says="A resumed history begins with the environment's context twice.",
        origin="recordings learned to keep the environment later than resuming",
        breaks=lambda: replaced("runtimes.legacy.chats:Chats.resume", _environment_again),
    ),
    _legacy(
        name="rewind-past-the-end-takes-the-last",
        behaviour=Behaviour.RECORDING,
        says="Rewinding to a message that there is not goes back to before the last one.",
        origin="a number that is brought into its range instead of refused",
        closed_by="resume/rewind_past_end",
        breaks=lambda: replaced("runtimes.legacy.chats:Chats.rewind", _clamped),
    ),
    _adk(
        name="masking-before-compression",
        says="Old outputs are masked before the history is summarised, not after.",
        origin="an order of request processors that nothing but a list holds",
        breaks=lambda: replaced("runtimes.adk.flow:PROCESSOR_ORDER", _masked_first),
    ),
    _adk(
        name="prompt-start-outlives-history",
        says="After a compression or a resume an abort goes back to a place of the old history.",
        origin="an index kept beside the list that it points into",
        closed_by="resume/self_then_abort",
        breaks=lambda: replaced("runtimes.adk.conversation:Conversation.start", _start_kept),
    ),
    _adk(
        name="resumed-history-added",
        behaviour=Behaviour.RECORDING,
        says="A resumed history is put behind the one that there is.",
        origin="google-adk's `append_event`, by which a session is rebuilt",
        breaks=lambda: replaced("runtimes.adk.conversation:Conversation.resume", _added),
    ),
    _adk(
        name="rewind-leaves-the-history",
        behaviour=Behaviour.RECORDING,
        says="A rewind shortens the recording, and the model goes on seeing what was taken back.",
        origin="a recording and a history, of which only one is told",
        breaks=lambda: replaced("runtimes.adk.conversation:Conversation.rewind", _history_left),
    ),
    _adk(
        name="no-compression-by-itself",
        says="A long history is not summarised before a request.",
        origin="a condition turned round with the setting that it asks",
        breaks=lambda: replaced(
            "runtimes.adk.processors.conversation:CompressionProcessor._step", _inverted
        ),
    ),
    _adk(
        name="history-counted-with-its-answer",
        says="The history counts for all tokens of the last request, its thoughts included.",
        origin="`totalTokenCount`, which sounds like what is wanted",
        breaks=lambda: replaced("runtimes.adk.conversation:Conversation.answer", _with_the_answer),
    ),
    _adk(
        name="answer-recorded-under-routed-model",
        behaviour=Behaviour.RECORDING,
        says="An answer is recorded under the prompt's model, not the one that gave it.",
        origin="two names for a model that differ only after a fallback or a hook",
        closed_by="hooks/request_model_once",
        breaks=lambda: replaced(
            "runtimes.adk.conversation:Conversation.answer", _under_routed_model
        ),
    ),
    _adk(
        name="binary-joined-to-response",
        says="A model that is shown thoughts gets binary data in one turn with its response.",
        origin="a turn that seemed to be there for nothing",
        closed_by="tools/gemini15_audio",
        breaks=lambda: replaced(
            "runtimes.adk.conversation:Conversation._take_tool_response", _binary_joined
        ),
    ),
)
