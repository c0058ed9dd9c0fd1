"""Faults of loop detection, of utility requests, and of what clients are shown."""

from __future__ import annotations

import re
from contextlib import AbstractContextManager
from itertools import pairwise
from typing import Any, Final

from seeded_faults import Behaviour, Faults, Site
from seeded_faults.patching import all_of, replaced
from seeded_faults.wrappers import during, first, instead, keeps, passing, put, returns, then
from services.scheduler.calls import CallStatus
from services.wire import js_json

fault = Faults(Site.SERVICE, Behaviour.LOOPS)
held_out = Faults(Site.SERVICE, Behaviour.LOOPS, held_out=True)
held_out_tools = Faults(Site.SERVICE, Behaviour.TOOLS, held_out=True)
held_out_lifecycle = Faults(Site.SERVICE, Behaviour.LIFECYCLE, held_out=True)
held_out_errors = Faults(Site.SERVICE, Behaviour.ERRORS, held_out=True)
_DETECTOR: Final = "services.loop_detection.detector:LoopDetector"
_CHECK: Final = "services.loop_detection.llm_check:LlmLoopCheck"


def _counting_failures_alone() -> AbstractContextManager[None]:
    succeeded: set[str] = set()

    def noting(returned: Any) -> Any:
        async def broken(self: Any, call: Any, *more: Any) -> Any:
            ending = await returned(self, call, *more)
            if ending.status is CallStatus.SUCCESS:
                succeeded.add(f"{call.name}:{js_json(call.request.args)}")
            return ending

        return broken

    def leaving_out(add: Any) -> Any:
        def broken(self: Any, name: str, args: Any) -> Any:
            return f"{name}:{js_json(args)}" not in succeeded and add(self, name, args)

        return broken

    return all_of(
        replaced("services.scheduler.execution:ToolExecutor._returned", noting),
        replaced("services.loop_detection.tool_calls:ToolCallLoops.add", leaving_out),
    )


sixth_repetition_is_a_loop = fault.wrap(
    "services.loop_detection.tool_calls:_REPETITIONS",
    lambda count: count + 1,
    says="Five equal calls in a row are not a loop; six are.",
    origin="repetitions counted from the second call on",
)
fourth_repetition_is_a_loop = fault.wrap(
    "services.loop_detection.tool_calls:_REPETITIONS",
    lambda count: count - 1,
    says="Four equal calls in a row already count as a loop.",
    origin="an index compared with a count",
)
cycles_not_seen = fault.wrap(
    "services.loop_detection.tool_calls:_LONGEST_CYCLE",
    lambda _: 1,
    says="Only one repeated call is a loop, not a cycle of several calls.",
    origin="an older detector, which kept the last call and a counter",
)
longest_cycle_one_short = fault.wrap(
    "services.loop_detection.tool_calls:_LONGEST_CYCLE",
    lambda count: count - 1,
    says="A cycle of five calls is not detected.",
    origin="a range whose end is excluded",
)
narration_resets_calls = fault.wrap(
    "services.loop_detection.detector:LoopDetector.add_text",
    first(lambda self, fragment: self._calls.clear()),
    says="Text between equal calls resets their count.",
    origin="one counter for all of the model's output",
)
calls_counted_within_a_turn = fault.wrap(
    "services.loop_detection.detector:LoopDetector.turn_started",
    first(lambda self, signal: self._calls.clear()),
    says="Equal calls of different turns are not counted together.",
    origin="a detector created for every request",
)
calls_compared_by_name = fault.wrap(
    "services.loop_detection.tool_calls:ToolCallLoops.add",
    instead(lambda add, self, name, _args: add(self, name, {})),
    says="Calls of one tool with different arguments count as equal.",
    origin="a framework's limit on calls of a tool",
)
successful_calls_not_counted = fault.breaking(
    _counting_failures_alone,
    says="Equal calls count as a loop only while they fail.",
    origin="a framework's detector, which counts errors of one tool",
)
argument_order_not_heeded = fault.wrap(
    "services.loop_detection.tool_calls:ToolCallLoops.add",
    passing(args=lambda args: dict(sorted(args.items())) if isinstance(args, dict) else args),
    says="Calls that differ only in the order of their arguments count as equal.",
    origin="a digest over sorted keys",
)
chant_outlives_calls = fault.wrap(
    "services.loop_detection.detector:LoopDetector.add_tool_call",
    during("_content.clear", lambda: None),
    says="Text before a tool call counts together with the text after it.",
    origin="a detector that gets only text deltas",
)
ninth_chant_is_a_loop = fault.wrap(
    "services.loop_detection.content:_OCCURRENCES",
    lambda count: count - 1,
    says="A sentence counts as a loop at its ninth occurrence, not its tenth.",
    origin="an index compared with a count",
)
chant_distance_one_short = fault.wrap(
    "services.loop_detection.content:_MAX_AVERAGE_DISTANCE",
    lambda count: count - 1,
    says="Repetitions at exactly the allowed distance are not a loop.",
    origin="`<` for `<=`",
)
every_strike_is_the_first = fault.wrap(
    "services.loop_detection.detector:LoopDetector.clear_detection",
    then(put("_count", 0)),
    says="A prompt that keeps looping after the warning is warned again and again.",
    origin="a recovery that resets the whole detector",
)
strikes_outlive_the_prompt = fault.wrap(
    "services.loop_detection.detector:LoopDetector.reset",
    keeps("_count"),
    says="A warning in an earlier prompt makes the next loop of the session final.",
    origin="a counter kept by the session",
)
model_asked_a_turn_late = fault.wrap(
    "services.loop_detection.llm_check:_FIRST_CHECK",
    lambda count: count + 1,
    says="The model's loop check runs at a prompt's 31st turn, not its 30th.",
    origin="turns counted from 0",
)
just_confident_is_not_enough = fault.wrap(
    "services.loop_detection.llm_check:_CONFIDENT",
    lambda confident: confident + 1e-09,
    says="A loop check with exactly the required confidence is ignored.",
    origin="`>` for `>=`",
)
first_verdict_believed = fault.wrap(
    "services.loop_detection.llm_check:LlmLoopCheck.__init__",
    passing(is_available=lambda _: lambda _model: False),
    says="A loop that one model reports is accepted without a check by the better model.",
    origin="a second request saved",
)
interval_not_adapted = fault.wrap(
    "services.loop_detection.llm_check:LlmLoopCheck._adapt",
    returns(None),
    says="The next loop check comes after ten turns, whatever the confidence.",
    origin="a fixed interval",
)
loop_check_ends_in_a_call = fault.wrap(
    "services.loop_detection.llm_check:_is_function_call",
    returns(False),
    says="The loop check gets a call without its result.",
    origin="the end of the history used unchanged",
)
fence_forgotten_at_calls = held_out.wrap(
    f"{_DETECTOR}.add_tool_call",
    first(put("_content._in_code", False)),
    says="Text after a tool call counts as prose although a code block is open.",
    origin="a detector that restarts at each call",
    closed_by="loops/content_fence_call",
)
lists_count_as_chant = held_out.wrap(
    "services.loop_detection.content:_STRUCTURE",
    lambda _: re.compile("(?!)"),
    says="Repeated lists, tables and headings count as a loop.",
    origin="the detector's exceptions left for later",
)
loop_check_without_the_task = held_out.wrap(
    f"{_CHECK}.turn_started",
    passing(user_prompt=lambda _: ""),
    says="The loop check does not get the user's request.",
    origin="an argument added upstream after the port",
)
loop_setting_not_heeded = held_out.wrap(
    f"{_DETECTOR}.__init__",
    passing(disabled=lambda _: False),
    says="Loop detection runs although the settings disable it.",
    origin="a service created with its defaults",
)
turns_of_all_prompts_counted = held_out.wrap(
    f"{_CHECK}.reset",
    returns(None),
    says="The loop check counts the session's turns, not the prompt's.",
    origin="a reset that one of three counters misses",
)
next_speaker_judged_by_the_last_turn = held_out.wrap(
    "services.next_speaker:UtilityRequest",
    instead(
        lambda request, /, **fields: request(**{**fields, "contents": fields["contents"][-2:]})
    ),
    says="The next-speaker check gets only the last turn.",
    origin="a separate question instead of one in the conversation",
)
media_of_results_not_shown = held_out_tools.wrap(
    "services.presentation.content:_shown",
    instead(lambda show, part: None if "inlineData" in part or "fileData" in part else show(part)),
    says="Images and files that a tool returns are not emitted to clients.",
    origin="a conversion written for text",
)
references_not_sent = held_out_lifecycle.wrap(
    "services.presentation.content:_sent",
    instead(lambda send, part: None if part.type == "reference" else send(part)),
    says="References in a message, such as a mentioned file, are not sent.",
    origin="a conversion that handles only text and media",
)
media_by_address_not_sent = held_out_lifecycle.wrap(
    "services.presentation.content:_sent_media",
    instead(lambda send, part: send(part) if part.data else None),
    says="Media that a message names by URI are not sent.",
    origin="a client library's helper for bytes",
)
thoughts_sent_as_texts = held_out_lifecycle.wrap(
    "services.presentation.content:_sent",
    instead(lambda send, part: {"text": part.thought} if part.type == "thought" else send(part)),
    says="A thought in a message is sent as plain text.",
    origin="a conversion that reads a part's text but not its kind",
)


@fault(
    "services.loop_detection.content:ContentLoops.add",
    origin="a detector that gets text without Markdown",
)
def code_counts_as_chant(add: Any, self: Any, fragment: str) -> Any:
    """Repetition inside a code block counts as a loop."""
    self._in_code = False
    return add(self, fragment.replace("```", ""))


@held_out(
    "services.loop_detection.content:ContentLoops.excerpt",
    origin="an index that has moved on by the time it is used",
)
def chant_excerpt_of_the_end(excerpt: Any, self: Any) -> Any:
    """The report of a text loop quotes the end of the text, not the repetition."""
    text: str = self._text[-50:]
    return text.strip()


@held_out(
    "services.loop_detection.content:ContentLoops._is_loop",
    origin="a detector of cycles put in the place of one of repetitions",
    closed_by="loops/content_uneven",
)
def chant_only_at_even_distance(looks: Any, self: Any, known: Any) -> bool:
    """A sentence that recurs at varying distances is not a loop."""
    distances = {there - here for here, there in pairwise(list(known)[-10:])}
    return len(distances) == 1 and bool(looks(self, known))


@held_out_errors(
    "services.presentation.errors:status_name", origin="another library's table of statuses"
)
def unlisted_statuses_named_by_class(name: Any, status: Any) -> Any:
    """A status without a name of its own gets its class's name instead of INTERNAL."""
    known = name(status)
    if known != "INTERNAL" or not isinstance(status, int) or status == 500:
        return known
    return "UNAVAILABLE" if status > 500 else "INVALID_ARGUMENT"


@held_out_errors(
    "services.presentation.errors:ErrorFields", origin="a field taken for a debugging aid"
)
def raw_errors_not_told(fields: Any, /, *, meta: Any = None, **others: Any) -> Any:
    """An error is reported without the model layer's original error."""
    kept = {key: value for key, value in (meta or {}).items() if key != "rawError"}
    return fields(meta=kept or None, **others)
