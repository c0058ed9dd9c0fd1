"""Faults of services in loop detection and in who speaks next."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import partial
from typing import Any, Final

from harness.faults.fault import Behaviour, Fault, Site
from harness.faults.patching import all_of, replaced
from services.scheduler.calls import CallStatus
from services.wire import js_json

__all__ = ["FAULTS"]

_loops = partial(Fault, site=Site.SERVICE, behaviour=Behaviour.LOOPS)


def _one_more(count: int) -> int:
    return count + 1


def _one_less(count: int) -> int:
    return count - 1


def _one(_: int) -> int:
    return 1


def _forgetting_calls(add_text: Any) -> Any:
    def broken(self: Any, fragment: str) -> Any:
        self._calls.clear()
        return add_text(self, fragment)

    return broken


def _forgetting_calls_of_turn(turn_started: Any) -> Any:
    async def broken(self: Any, signal: Any) -> Any:
        self._calls.clear()
        return await turn_started(self, signal)

    return broken


def _by_name_alone(add: Any) -> Any:
    return lambda self, name, _args: add(self, name, {})


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


def _in_any_order(add: Any) -> Any:
    def broken(self: Any, name: str, args: Any) -> Any:
        return add(self, name, dict(sorted(args.items())) if isinstance(args, dict) else args)

    return broken


def _text_goes_on(add_tool_call: Any) -> Any:
    def broken(self: Any, name: str, args: Any) -> Any:
        keep, self._content.clear = self._content.clear, lambda: None
        try:
            return add_tool_call(self, name, args)
        finally:
            self._content.clear = keep

    return broken


def _without_fences(add: Any) -> Any:
    def broken(self: Any, fragment: str) -> Any:
        self._in_code = False
        return add(self, fragment.replace("```", ""))

    return broken


def _counting_anew(clear: Any) -> Any:
    def broken(self: Any) -> None:
        clear(self)
        self._count = 0

    return broken


def _remembering(reset: Any) -> Any:
    def broken(self: Any, prompt_id: str, user_prompt: str = "") -> None:
        counted = self._count
        reset(self, prompt_id, user_prompt)
        self._count = counted

    return broken


def _more_than_sure(confident: float) -> float:
    return confident + 1e-9


def _never_there(prepare: Any) -> Any:
    def broken(self: Any, **seams: Any) -> None:
        prepare(self, **{**seams, "is_available": lambda _model: False})

    return broken


def _unadapted(_: Any) -> Any:
    return lambda _self, _confidence: None


def _with_calls(_: Any) -> Any:
    return lambda _content: False


FAULTS: Final = (
    _loops(
        name="sixth-repetition-is-a-loop",
        says="Five equal calls in a row are let through; the sixth is a loop.",
        origin="repetitions counted from the second call on",
        breaks=lambda: replaced("services.loop_detection.tool_calls:_REPETITIONS", _one_more),
    ),
    _loops(
        name="fourth-repetition-is-a-loop",
        says="The fourth equal call in a row is a loop already.",
        origin="an index compared with a count",
        breaks=lambda: replaced("services.loop_detection.tool_calls:_REPETITIONS", _one_less),
    ),
    _loops(
        name="cycles-not-seen",
        says="Calls that repeat in turns of two or more are no loop; only one call repeated is.",
        origin="an older detector, which kept the last call and a counter",
        breaks=lambda: replaced("services.loop_detection.tool_calls:_LONGEST_CYCLE", _one),
    ),
    _loops(
        name="longest-cycle-one-short",
        says="A cycle of five calls is not seen.",
        origin="a range whose end is excluded",
        breaks=lambda: replaced("services.loop_detection.tool_calls:_LONGEST_CYCLE", _one_less),
    ),
    _loops(
        name="narration-resets-calls",
        says="Text between equal calls makes them start counting again.",
        origin="one counter for whatever the model did last",
        breaks=lambda: replaced(
            "services.loop_detection.detector:LoopDetector.add_text", _forgetting_calls
        ),
    ),
    _loops(
        name="calls-counted-within-a-turn",
        says="Equal calls of different turns are not counted together.",
        origin="a detector made anew for every model call",
        breaks=lambda: replaced(
            "services.loop_detection.detector:LoopDetector.turn_started",
            _forgetting_calls_of_turn,
        ),
    ),
    _loops(
        name="calls-compared-by-name",
        says="Calls of one tool with different arguments count as equal.",
        origin="a framework's limit on calls of a tool",
        breaks=lambda: replaced(
            "services.loop_detection.tool_calls:ToolCallLoops.add", _by_name_alone
        ),
    ),
    _loops(
        name="successful-calls-not-counted",
        says="Equal calls are a loop only while they fail.",
        origin="a framework's detector, which counts errors of one tool",
        breaks=_counting_failures_alone,
    ),
    _loops(
        name="argument-order-not-heeded",
        says="Calls whose arguments differ in nothing but their order count as equal.",
        origin="a digest over sorted keys",
        breaks=lambda: replaced(
            "services.loop_detection.tool_calls:ToolCallLoops.add", _in_any_order
        ),
    ),
    _loops(
        name="chant-outlives-calls",
        says="Text before a tool call counts together with the text after it.",
        origin="a detector fed by deltas of text alone",
        breaks=lambda: replaced(
            "services.loop_detection.detector:LoopDetector.add_tool_call", _text_goes_on
        ),
    ),
    _loops(
        name="ninth-chant-is-a-loop",
        says="A sentence's ninth occurrence is a loop, not its tenth.",
        origin="an index compared with a count",
        breaks=lambda: replaced("services.loop_detection.content:_OCCURRENCES", _one_less),
    ),
    _loops(
        name="chant-distance-one-short",
        says="Repetitions as far apart as is just allowed are no loop.",
        origin="`<` for `<=`",
        breaks=lambda: replaced("services.loop_detection.content:_MAX_AVERAGE_DISTANCE", _one_less),
    ),
    _loops(
        name="code-counts-as-chant",
        says="Repetition inside a code block is taken for a loop.",
        origin="a detector fed with text from which Markdown was taken off",
        breaks=lambda: replaced(
            "services.loop_detection.content:ContentLoops.add", _without_fences
        ),
    ),
    _loops(
        name="every-strike-is-the-first",
        says="A prompt that goes on in circles after the warning is warned again and again.",
        origin="a recovery that resets the detector whole",
        breaks=lambda: replaced(
            "services.loop_detection.detector:LoopDetector.clear_detection", _counting_anew
        ),
    ),
    _loops(
        name="strikes-outlive-the-prompt",
        says="A warning of an earlier prompt makes the next loop of the session final.",
        origin="a counter kept by the session",
        breaks=lambda: replaced(
            "services.loop_detection.detector:LoopDetector.reset", _remembering
        ),
    ),
    _loops(
        name="model-asked-a-turn-late",
        says="A model is asked about a loop at a prompt's 31st turn, not at its 30th.",
        origin="turns counted from 0",
        breaks=lambda: replaced("services.loop_detection.llm_check:_FIRST_CHECK", _one_more),
    ),
    _loops(
        name="just-confident-is-not-enough",
        says="A model that is just sure enough of a loop is not believed.",
        origin="`>` for `>=`",
        breaks=lambda: replaced("services.loop_detection.llm_check:_CONFIDENT", _more_than_sure),
    ),
    _loops(
        name="first-verdict-believed",
        says="A loop that one model sees is believed without asking the better one.",
        origin="a second question saved",
        breaks=lambda: replaced(
            "services.loop_detection.llm_check:LlmLoopCheck.__init__", _never_there
        ),
    ),
    _loops(
        name="interval-not-adapted",
        says="The model is asked again after ten turns, however sure it was.",
        origin="a fixed interval",
        breaks=lambda: replaced(
            "services.loop_detection.llm_check:LlmLoopCheck._adapt", _unadapted
        ),
    ),
    _loops(
        name="loop-check-ends-in-a-call",
        says="The model that is asked about a loop is shown a call without its result.",
        origin="the history's end taken as it is",
        breaks=lambda: replaced("services.loop_detection.llm_check:_is_function_call", _with_calls),
    ),
)
