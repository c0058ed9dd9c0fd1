"""What follows an invocation: how the agent's loop goes on.

Tool rounds happen inside an invocation. These requests follow without the user: feedback after a
loop, `Please continue.`, what an AfterAgent hook asks for, the nudge after an empty answer, and the
results of calls that clients have seen although their answer was given up.

Source: core `core/client.ts` and `agent/legacy-agent-session.ts`.
"""

from __future__ import annotations

from dataclasses import dataclass

from runtimes.adk.conversation import Conversation
from runtimes.adk.prompt_calls import shown_reason
from runtimes.adk.run import End, Run
from runtimes.adk.stream import Stream
from runtimes.adk.tool_batch import ToolBatch
from services.bundle import Services
from services.chat import MAX_TURNS_EXCEEDED
from services.history.transforms import EMPTY_ANSWER_NUDGE
from services.loop_detection.detector import LoopVerdict, loop_feedback
from services.next_speaker import CONTINUE_REQUEST, model_goes_on
from services.presentation.finish import end_reason
from services.wire import Part

__all__ = ["Continuation"]


@dataclass(slots=True)
class Continuation:
    """Decides after each invocation, in the order in which the published core decides."""

    _services: Services
    _conversation: Conversation
    _batch: ToolBatch

    async def after(self, stream: Stream, run: Run) -> list[Part] | End:
        """The next request's parts, or the end."""
        if run.end is not None:
            return run.end
        self._conversation.calls.note_answer(run)
        if run.step.loop is not None:
            decided = self._after_loop(stream, run, run.step.loop)
            if decided is not None:
                return decided
        elif await self._model_goes_on(run):
            run.follow_up()
            return [{"text": CONTINUE_REQUEST}]
        said = await self._after_agent(stream, run)
        if said is not None:
            return said
        if run.signal.aborted:
            return End("aborted")
        if run.turn.requests:
            return await self._results(stream, run)
        if run.takes_nudge():
            return [{"text": EMPTY_ANSWER_NUDGE}]
        return End(end_reason(run.turn.finish_reason))

    def _after_loop(self, stream: Stream, run: Run, loop: LoopVerdict) -> list[Part] | End | None:
        """Report the first loop of a prompt to the model, and the second to clients."""
        if loop.count == 1 and run.turn.left > 1:
            self._conversation.loops.clear_detection()
            run.follow_up()
            return [{"text": loop_feedback(loop.detail)}]
        if run.step.loop_emitted:
            return None
        if run.signal.aborted:
            return End("aborted")
        if loop.count == 1:
            return End("max_turns", {"code": MAX_TURNS_EXCEEDED})
        stream.emit(stream.translator.loop_detected())
        return None

    async def _after_agent(self, stream: Stream, run: Run) -> list[Part] | End | None:
        """Leave the calls, innermost first, unless a hook ends the stream or will not have it."""
        calls = self._conversation.calls
        while run.calls:
            said = await calls.after_agent(run)
            if said is not None and (said.stops or said.blocks):
                if run.signal.aborted:
                    return End("aborted")
                if said.stops:
                    return End("completed", {"message": shown_reason(said)})
                stream.emit(stream.translator.blocked(shown_reason(said)))
                if said.clears_context:
                    self._conversation.start()
                if run.calls[-1].left <= 1:
                    # The core has no bound here: a hook that always blocks never ends.
                    return End("max_turns", {"code": MAX_TURNS_EXCEEDED})
                calls.go_on(run)
                return [{"text": said.reason}]
            calls.leave(run)
        return None

    async def _model_goes_on(self, run: Run) -> bool:
        """Whether the model was not done, as another model sees it."""
        answer, signal = run.step.answer, run.signal
        if not answer.complete or answer.calls or signal.aborted:
            return False
        return await model_goes_on(
            self._services, self._conversation, signal, run.prompt_id, run.turn.finish_reason
        )

    async def _results(self, stream: Stream, run: Run) -> list[Part] | End:
        """Run the calls that no answer in the history has, and answer with their results."""
        completed = await self._batch.run(run)
        if completed is None:
            return End("aborted")
        for call in completed:
            stream.emit(stream.translator.tool_response(call))
        self._batch.record(self._conversation, completed)
        if run.end is not None:
            return run.end
        return [part for call in completed for part in call.response.response_parts]
