"""Faults of the ADK runtime in what is kept of the history, and in recordings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from seeded_faults import Behaviour, Faults, Site
from seeded_faults.altered import Altered
from seeded_faults.wrappers import instead, keeps, passing, returns

fault = Faults(Site.ADK, Behaviour.CONTEXT)
fault_loops = Faults(Site.ADK, Behaviour.LOOPS)
fault_recording = Faults(Site.ADK, Behaviour.RECORDING)
held_out = Faults(Site.ADK, Behaviour.CONTEXT, held_out=True)
held_out_recording = Faults(Site.ADK, Behaviour.RECORDING, held_out=True)


class _Inclusive(int):
    """A number that another one exceeds by being equal."""

    def __ge__(self, other: int) -> bool:
        return int(self) > other


def _masked_first(order: Any) -> Any:
    others = [name for name in order if name != "tool_output_masking"]
    place = others.index("compression")
    return (*others[:place], "tool_output_masking", *others[place:])


compressed_into_new_recording = fault.wrap(
    "runtimes.adk.conversation:Conversation._own_recording",
    returns(None),
    says="A compressed conversation begins a recording of its own.",
    origin="seen in agent migrations: compression breaking what comes after it",
)
abort_undoes_one_request = fault.wrap(
    "runtimes.adk.conversation:Conversation.fail",
    passing(aborted=lambda _: False, error=lambda _: None),
    says="An abort takes back the request under way, and leaves the rest of its prompt.",
    origin="google-adk's sessions, where an event that was appended stays",
)
interrupted_answer_left_open = fault.wrap(
    "runtimes.adk.conversation:Conversation._close_unanswered_response",
    returns(None),
    says="A prompt after tool results that no answer followed is joined to them.",
    origin="a port that leaves out upstream's placeholder for the missing answer",
)
sent_as_typed_content = fault.wrap(
    "runtimes.adk.model_call:wire_of",
    instead(lambda _, content: content.model_dump(mode="json", by_alias=True, exclude_none=True)),
    says="What google-genai's types do not carry, a user's image say, is not sent.",
    origin="google-genai's types between the conversation and the API",
)
request_contents_stale = fault.wrap(
    "services.model.sdk_contents:TypedHistory.follow",
    instead(lambda follow, self, *wires, replaced=False: follow(self, *wires)),
    says="The contents of ADK's request keep turns that masking or compression replaced.",
    origin="a list brought up to date at its end, of a history that changed in its middle",
    unobservable="what is sent is read from the conversation unless a plugin edits the "
    "request: tests/harness/faults/test_unobservable.py",
)
masking_before_compression = held_out.wrap(
    "runtimes.adk.flow:PROCESSOR_ORDER",
    _masked_first,
    says="Old outputs are masked before the history is summarised, not after.",
    origin="an order of request processors that nothing but a list holds",
)
prompt_start_outlives_history = held_out.wrap(
    "runtimes.adk.conversation:Conversation.start",
    keeps("_prompt_start"),
    says="After a compression or a resume an abort goes back to a place of the old history.",
    origin="an index kept beside the list that it points into",
    closed_by="resume/self_then_abort",
)


@fault(
    "runtimes.adk.processors.conversation:ToolOutputMaskingProcessor._step",
    origin="google-adk's processors, which see the pending turn as part of the contents",
)
async def masking_with_pending_turn(step: Any, self: Any, context: Any, *args: Any) -> None:
    """The turn about to be sent counts as the latest, so the one before it is masked."""
    conversation, pending = self._conversation, self._sessions.pending(context.session)
    if pending is not None and pending.wire is not None:
        conversation.push("pending", pending.wire)
    await step(self, context, *args)
    if pending is not None and pending.wire is not None:
        conversation._ids.pop()
        conversation.view.truncate(len(conversation._ids))


@fault(
    "runtimes.adk.conversation:Conversation.compress",
    origin="google-adk's compaction, which summarises whatever stands first",
)
async def environment_lost_by_compression(
    compress: Any, /, self: Any, *args: Any, **kwargs: Any
) -> Any:
    """A compressed history begins with the summary, without the environment's context."""
    start = self.start
    self.start = lambda turns, resumed: start(turns[1:], resumed)
    try:
        return await compress(self, *args, **kwargs)
    finally:
        del self.start


@fault_loops(
    "runtimes.adk.plugins.limits:TokenLimitAdkPlugin.request_measured",
    origin="seen in agent migrations: off by one at every threshold",
)
async def overflow_off_by_one(run: Any, self: Any, *args: Any) -> Any:
    """A request that just fills the window is refused."""
    self._room = _Inclusive(self._room)
    return await run(self, *args)


@fault_recording(
    "runtimes.adk.conversation:Conversation._roll_back",
    origin="seen in agent migrations: the recording not synced",
)
def rollback_not_recorded(roll_back: Any, self: Any, *args: Any) -> None:
    """What an abort or a failure took back stays in the recording."""
    self._sync_recording = lambda: None
    try:
        roll_back(self, *args)
    finally:
        del self._sync_recording


@held_out_recording(
    "runtimes.adk.conversation:Conversation.resume",
    origin="google-adk's `append_event`, by which a session is rebuilt",
)
def resumed_history_added(resume: Any, self: Any, file: Any) -> None:
    """A resumed history is put behind the one that there is."""
    kept = self.history()
    resume(self, file)
    self.become([*kept, *self.history()])


@held_out_recording(
    "runtimes.adk.conversation:Conversation.rewind",
    origin="a recording and a history; only one hears of a change",
)
def rewind_leaves_the_history(rewind: Any, self: Any, to: Any) -> None:
    """A rewind shortens the recording, and the model goes on seeing what was taken back."""
    self.become = lambda turns: None
    try:
        rewind(self, to)
    finally:
        del self.become


@held_out(
    "runtimes.adk.processors.conversation:CompressionProcessor._step",
    origin="a condition turned round with the setting that it asks",
)
def no_compression_by_itself(run: Any, self: Any, *args: Any) -> Any:
    """A long history is not summarised before a request."""
    given = self.given = getattr(self, "given", self._services)
    managed = given.settings.context_management
    settings = Altered(given.settings, context_management=not managed)
    self._services = replace(given, settings=settings)
    return run(self, *args)


@held_out(
    "runtimes.adk.conversation:Conversation.answer",
    origin="`totalTokenCount`, which sounds like what is wanted",
)
def history_counted_with_its_answer(answer: Any, self: Any, turn: Any, model: Any) -> None:
    """The history counts for all tokens of the last request, its thoughts included."""
    answer(self, turn, model)
    usage = turn.usage or {}
    if usage.get("promptTokenCount") is not None:
        counted = self.last_prompt_token_count
        self.last_prompt_token_count = usage.get("totalTokenCount") or counted


@held_out_recording(
    "runtimes.adk.conversation:Conversation.answer",
    origin="two names for a model that differ only after a fallback or a hook",
    closed_by="hooks/request_model_once",
)
def answer_recorded_under_routed_model(answer: Any, self: Any, turn: Any, model: Any) -> None:
    """An answer is recorded under the prompt's model, not the one that gave it."""
    answer(self, turn, self._services.state.sequence_model or model)


@held_out(
    "runtimes.adk.conversation:Conversation._take_tool_response",
    origin="a turn that seemed to be there for nothing",
    closed_by="tools/gemini15_audio",
)
def binary_joined_to_response(take: Any, self: Any, content: Any) -> None:
    """A model that is shown thoughts gets binary data in one turn with its response."""
    before = len(self._ids)
    take(self, content)
    turns = self.history()[before:]
    if len(turns) > 1:
        del self._ids[before:]
        self.view.truncate(before)
        for turn_id, turn in turns:
            if turn.get("role") != "model":
                self.push(turn_id, turn)
