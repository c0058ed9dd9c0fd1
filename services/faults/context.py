"""Faults of the services in what is kept of the history, and in how it becomes a request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from seeded_faults import Behaviour, Faults, Site
from seeded_faults.altered import Altered
from seeded_faults.wrappers import changed, instead, passing, put, result, returns, then
from services.compression.service import CompressionStatus
from services.history.transforms import SYNTHETIC_THOUGHT_SIGNATURE, starts_active_loop
from services.history.view import _Entry
from services.model.generator import ModelRequest
from services.model.tokens import estimate_tokens
from services.output_masking import MaskingResult

fault = Faults(Site.SERVICE, Behaviour.CONTEXT)
held_out = Faults(Site.SERVICE, Behaviour.CONTEXT, held_out=True)
_COUNTED: Final = (
    "services.compression.service:request_token_count",
    "services.chat.limits:request_token_count",
)


def _response_at(history: Sequence[Any], found: Any) -> bool:
    if found.content_index >= len(history):
        return False
    parts = history[found.content_index].get("parts") or ()
    return found.part_index < len(parts) and "functionResponse" in parts[found.part_index]


def _asked_once(model: Any) -> Altered:
    """`model`, which is not asked a second time."""
    answers: list[Any] = []

    async def generate_content(request: Any) -> Any:
        if not answers:
            answers.append(await model.generate_content(request))
        return answers[0]

    return Altered(model, generate_content=generate_content)


def _with_setting(name: str, step: int) -> Any:
    """Give a service's constructor a session with a setting changed by `step`."""

    def altered(session: Any) -> Altered:
        value = getattr(session.settings, name) + step
        return Altered(session, settings=replace(session.settings, **{name: value}))

    return passing(session=altered)


@instead
async def _estimated(_: Any, /, parts: Any, *_seams: Any, **_more: Any) -> int:
    return estimate_tokens(parts)


latest_turn_masked = fault.wrap(
    "services.output_masking:_latest_start",
    result(lambda found: found + 1),
    says="The turn that masking is to protect begins one content late.",
    origin="the request being made counted as a part of the history",
)
skills_masked = fault.wrap(
    "services.output_masking:_EXEMPT",
    lambda _: frozenset(),
    says="Instructions of a skill are masked like any other output.",
    origin="a masking rule that knows no tools",
)
masked_preview_one_short = fault.wrap(
    "services.masking_previews:_EDGE_LINES",
    lambda count: count - 1,
    says="Of a masked command's output nine lines are left at each end, not ten.",
    origin="a slice whose end is excluded twice",
)
wide_text_estimated_as_ascii = fault.wrap(
    "services.model.tokens:_NON_ASCII_TOKENS",
    lambda _: 0.25,
    says="Text in other scripts is estimated at a quarter of a token per character.",
    origin="an estimate by length alone",
)
responses_estimated_twice = fault.wrap(
    "services.model.tokens:_response_tokens",
    result(lambda found: 2 * found),
    says="A tool's response counts twice in estimates of tokens.",
    origin="a response counted as a part and as a field of it",
)
compressed_one_token_late = fault.wrap(
    "services.compression.service:token_limit",
    result(lambda found: found + 1),
    says="A history of exactly the threshold is not compressed.",
    origin="`>` for `>=`",
)
compression_keeps_most = fault.wrap(
    "services.compression.service:_PRESERVED",
    lambda preserved: 1 - preserved,
    says="A compression keeps seventy per cent of the history as it is, not thirty.",
    origin="the share to keep taken for the share to compress",
)
split_before_response = fault.wrap(
    "services.compression.budget:has_function_response",
    returns(False),
    says="A compression may leave a tool's response without its call.",
    origin="a split before any turn of the user's role",
)
failed_compression_forgotten = fault.wrap(
    "services.compression.service:ChatCompressionService._judged",
    then(put("has_failed_attempt", False)),
    says="After a summary that was longer than what it summed up, the next one is tried.",
    origin="a compressor made anew for every request",
)
budget_spent_on_oldest = fault.wrap(
    "services.compression.budget:OutputTruncation.truncate",
    instead(lambda truncate, self, history: truncate(self, history[::-1])[::-1]),
    says="When outputs are cut to a budget the oldest are kept whole, not the newest.",
    origin="a history walked from its beginning",
)
invalid_turns_sent_again = fault.wrap(
    "services.history.view:is_valid_content",
    returns(True),
    says="Answers that were none are sent to the model as a part of the history.",
    origin="a framework's session, which keeps all events",
)
thoughts_sent_again = fault.wrap(
    "services.history.view:without_thoughts",
    instead(lambda _, content: content),
    says="Thoughts go back to the model.",
    origin="a framework's contents processor, which filters by other rules",
)
signed_since_last_result = fault.wrap(
    "services.history.view:starts_active_loop",
    instead(lambda _, content: content.get("role") == "user"),
    says="Only calls after the last tool result are signed, not all since the user's words.",
    origin="a turn of the user's role taken for the user's words",
)
contents_sent_unscrubbed = fault.wrap(
    "services.history.view:strip_content_prefixes",
    instead(lambda _, content: content),
    says="Contents go to the model as they are kept: empty texts, and ids of our own making.",
    origin="a request made of the session's events without the last step",
)
prefixed_ids_sent = fault.wrap(
    "services.history.transforms:_bare_id",
    returns(None),
    says="The model is sent call ids with the tool's name before them.",
    origin="our own ids used for everything",
)
earlier_prompts_signed = held_out.wrap(
    "services.history.view:RequestView._active_start",
    returns(0),
    says="Calls of all prompts get a stand-in signature, not those of the last one alone.",
    origin="a rule about the active loop applied to the history",
)
estimates_outlive_replacement = held_out.wrap(
    "services.history.prefix:shared_prefix",
    instead(lambda _, old, new: min(len(old), len(new))),
    says="Contents that were replaced are still counted by what stood in their places.",
    origin="a cache that is keyed by position",
    closed_by="masking/twice_then_room",
)
media_never_counted = held_out.wrap_all(
    *((target, _estimated) for target in _COUNTED),
    says="Requests with media in them are estimated, and the model is not asked to count.",
    origin="one estimate for everything",
)
custom_models_unsigned = held_out.wrap(
    "services.model.names:is_custom_model",
    returns(False),
    says="A model that is not called Gemini is treated as one that knows no signatures.",
    origin="a rule of families that knows the known ones",
)


masking_protects_one_token_less = fault.wrap(
    "services.output_masking:ToolOutputMaskingService.__init__",
    _with_setting("masking_protection_tokens", -1),
    says="Outputs that just fit into the protected window are masked.",
    origin="`>=` for `>`",
)


masking_wants_one_token_more = fault.wrap(
    "services.output_masking:ToolOutputMaskingService.__init__",
    _with_setting("masking_min_prunable_tokens", 1),
    says="Outputs that together are just worth masking are left.",
    origin="`>` for `>=`",
)


@fault(
    "services.output_masking:_located", origin="indices carried from one list of turns to another"
)
def masking_by_index(_: Any, candidates: Sequence[Any], history: Sequence[Any]) -> list[Any]:
    """What is to be masked is found by its place in the live history, not by itself."""
    return [found for found in candidates if _response_at(history, found)]


@fault(
    "services.output_masking:ToolOutputMaskingService.mask",
    origin="a processor that changes a copy of the request",
)
def masking_not_kept(mask: Any, /, self: Any, history: Any, **more: Any) -> Any:
    """Masked outputs go to files, and the history stays as it was."""
    result = mask(self, history, **more)
    return MaskingResult(history=history, prunable_tokens=result.prunable_tokens)


summary_not_verified = fault.wrap(
    "services.compression.service:ChatCompressionService._summarise",
    changed("_model", _asked_once),
    says="The model is not asked what its summary left out.",
    origin="a framework's compactor, which asks once",
)


@fault("services.compression.service:ChatCompressionService._judged", origin="`>=` for `>`")
async def equal_summary_refused(judged: Any, self: Any, *args: Any) -> Any:
    """A summary that is exactly as long as what it sums up is thrown away."""
    result = await judged(self, *args)
    info = result.info
    if info.new_token_count == info.original_token_count:
        failed = CompressionStatus.FAILED_INFLATED_TOKEN_COUNT
        return replace(result, info=replace(info, status=failed), new_history=None)
    return result


@fault("services.history.transforms:_signed", origin="a rule about turns read as one about calls")
def every_call_signed(_: Any, parts: Any) -> Any:
    """All calls of a turn get the stand-in for a thought signature, not the first alone."""
    return [
        {"thoughtSignature": SYNTHETIC_THOUGHT_SIGNATURE, **part}
        if part.get("functionCall") is not None
        else part
        for part in parts
    ]


@held_out(
    "services.history.view:RequestView._push",
    origin="a framework's session, which keeps events apart",
)
def neighbours_sent_apart(_: Any, self: Any, shown: Any, raw_start: int) -> None:
    """Neighbouring turns of the user go to the model as turns of their own."""
    self._entries.append(_Entry(shown, raw_start))
    if starts_active_loop(shown):
        self._active = len(self._entries) - 1


@held_out(
    "services.chat.chat:split_binary_injections",
    origin="an assignment for an extension of a list",
    closed_by="tools/read_two_sounds",
)
def only_last_sounds_follow(split: Any, parts: Sequence[Any]) -> Any:
    """Of sounds that several tools brought the last one's alone go to the model."""
    cleaned, injected = split(parts)
    for part in parts:
        injected = split([part])[1] or injected
    return cleaned, injected


@held_out(
    "services.prompts:Prompts.system_instruction",
    origin="a text made when the agent is built, as frameworks want it",
    unobservable="system instructions are each product's own words, so what they say is not "
    "compared: tests/harness/faults/test_unobservable_c.py",
)
def system_instruction_made_once(make: Any, self: Any) -> Any:
    """The system instruction goes on describing the mode that a session began in."""
    if not hasattr(self, "made_once"):
        self.made_once = make(self)
    return self.made_once


@held_out(
    "services.model.base_llm_client:ModelRequest",
    origin="a config put together from the aliases alone",
    closed_by="routing/scores",
)
def side_questions_uninstructed(_: Any, /, *, config: Any, **fields: Any) -> Any:
    """Questions beside the conversation are asked without their system instruction."""
    kept = {key: value for key, value in config.items() if key != "systemInstruction"}
    return ModelRequest(config=kept, **fields)
