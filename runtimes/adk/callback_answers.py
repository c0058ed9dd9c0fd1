"""Model responses that callbacks returned or changed, as answers of the model."""

from __future__ import annotations

from collections.abc import Sequence

from google.adk.models.llm_response import LlmResponse
from google.genai import types

from runtimes.adk.model_parts import ModelParts
from runtimes.adk.notes import Answer, AskedCall, WireContent, WirePart, dumped_part
from runtimes.adk.run import Run
from services.model.sdk_json import dumped
from services.model.stream import AssembledTurn, CallIds
from services.wire import Part

__all__ = ["changed_answer", "replaced_answer"]


def replaced_answer(response: LlmResponse, parts: ModelParts, run: Run) -> LlmResponse:
    """A response in place of the model's; its calls are the ones that are run.

    A partial response, and one without content, is no answer: history gets none.
    """
    answer, content = run.step.answer, response.content
    answer.replace_calls(())
    if response.partial or content is None:
        return response
    shown, wires = _parts(content, parts, run)
    usage = None if response.usage_metadata is None else dumped(response.usage_metadata)
    reason = response.finish_reason
    finish = None if reason is None else str(reason.value)
    candidate = {"content": {"role": "model", "parts": wires}, "finishReason": finish}
    # Asking for a delta takes it in; clients get the response itself.
    tuple(answer.deltas({"candidates": [candidate]}, parts.asking.requested(parts.services, run)))
    answer.finish()
    turn = AssembledTurn.of(wires, usage, finish)
    return _noting(response, shown, Answer(turn, run.step.base.model or ""))


def changed_answer(
    response: LlmResponse, original: LlmResponse, parts: ModelParts, run: Run
) -> LlmResponse:
    """A delta or an answer that a callback changed; clients have got the answer's deltas."""
    content, answer = response.content, run.step.answer
    if response.partial:
        plain = None if content is None else content.model_copy()
        return response.model_copy(update={"content": plain})
    note = original.content.note if isinstance(original.content, WireContent) else None
    if content is None or not isinstance(note, Answer):
        answer.replace_calls(())
        return response
    shown, wires = _parts(content, parts, run)
    answer.replace_calls(_requests(shown, parts, run))
    return _noting(response, shown, note.rewritten(wires))


def _parts(
    content: types.Content, parts: ModelParts, run: Run
) -> tuple[list[types.Part], list[Part]]:
    """The parts as ADK sees them, and as history gets them; calls have their ids in both."""
    ids, known = CallIds(parts.services.clock), {call.call_id for call in run.step.answer.calls}
    shown: list[types.Part] = []
    wires: list[Part] = []
    for part in content.parts or ():
        aside = isinstance(part, WirePart) and part.is_aside
        wire, called = dumped_part(part), part.function_call
        if called is not None and not called.id and parts.asking.names_calls:
            call = wire["functionCall"]
            while ids.assign(call) in known:
                del call["id"]
            named = called.model_copy(update={"id": call["id"]})
            part = part.model_copy(update={"function_call": named})
        shown.append(part)
        wires += [] if aside else [wire]
    return shown, wires


def _requests(shown: Sequence[types.Part], parts: ModelParts, run: Run) -> list[AskedCall]:
    """The calls among the parts that ADK sees; an unchanged call stays what it was."""
    known = {call.call_id: call for call in run.step.answer.calls}
    requested = parts.asking.requested(parts.services, run)
    found: list[AskedCall] = []
    for part in shown:
        if part.function_call is not None:
            call = dumped_part(part)["functionCall"]
            before = known.get(call.get("id"))
            same = before is not None and (before.name, before.args) == (
                call.get("name"),
                call.get("args") or {},
            )
            found.append(before if before is not None and same else requested(call, None))
    return found


def _noting(response: LlmResponse, shown: list[types.Part], note: Answer) -> LlmResponse:
    role = response.content.role if response.content is not None else None
    content = WireContent.noting(types.Content(role=role or "model", parts=shown), note)
    return response.model_copy(update={"content": content})
