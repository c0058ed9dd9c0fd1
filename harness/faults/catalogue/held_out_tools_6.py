"""Faults of loop detection, of checks beside the conversation, and of what clients are shown,
written after the corpus.
"""

from __future__ import annotations

import re
from functools import partial
from itertools import pairwise
from typing import Any, Final

from harness.faults.fault import Behaviour, Fault, Site
from harness.faults.patching import replaced

__all__ = ["FAULTS"]

_fault = partial(Fault, site=Site.SERVICE, held_out=True)
_loops = partial(_fault, behaviour=Behaviour.LOOPS)
_shown = partial(_fault, behaviour=Behaviour.TOOLS)
_sent = partial(_fault, behaviour=Behaviour.LIFECYCLE)
_errors = partial(_fault, behaviour=Behaviour.ERRORS)

_DETECTOR: Final = "services.loop_detection.detector:LoopDetector"
_CHECK: Final = "services.loop_detection.llm_check:LlmLoopCheck"


def _outside_code(add: Any) -> Any:
    def broken(self: Any, name: str, args: Any) -> Any:
        self._content._in_code = False
        return add(self, name, args)

    return broken


def _no_structure(_: Any) -> Any:
    return re.compile(r"(?!)")


def _not_told(turn_started: Any) -> Any:
    async def broken(self: Any, **told: Any) -> Any:
        return await turn_started(self, **{**told, "user_prompt": ""})

    return broken


def _never_disabled(init: Any) -> Any:
    def broken(self: Any, **seams: Any) -> None:
        init(self, **{**seams, "disabled": False})

    return broken


def _counting_on(_: Any) -> Any:
    return lambda _self: None


def _last_turn(request: Any) -> Any:
    def broken(**fields: Any) -> Any:
        return request(**{**fields, "contents": fields["contents"][-2:]})

    return broken


def _at_even_distance(looks: Any) -> Any:
    def broken(self: Any, known: Any) -> bool:
        distances = {there - here for here, there in pairwise(list(known)[-10:])}
        return len(distances) == 1 and bool(looks(self, known))

    return broken


def _as_of_now(excerpt: Any) -> Any:
    def broken(self: Any) -> Any:
        text: str = self._text[-50:]
        return text.strip()

    return broken


def _without_media(show: Any) -> Any:
    def broken(part: Any) -> Any:
        return None if "inlineData" in part or "fileData" in part else show(part)

    return broken


def _without_references(send: Any) -> Any:
    def broken(part: Any) -> Any:
        return None if part.type == "reference" else send(part)

    return broken


def _data_alone(send: Any) -> Any:
    return lambda part: send(part) if part.data else None


def _thoughts_as_texts(send: Any) -> Any:
    def broken(part: Any) -> Any:
        return {"text": part.thought} if part.type == "thought" else send(part)

    return broken


def _by_class_of_status(name: Any) -> Any:
    def broken(status: Any) -> Any:
        known = name(status)
        if known != "INTERNAL" or not isinstance(status, int) or status == 500:
            return known
        return "UNAVAILABLE" if status > 500 else "INVALID_ARGUMENT"

    return broken


def _without_the_error(fields: Any) -> Any:
    def broken(*, meta: Any = None, **others: Any) -> Any:
        kept = {key: value for key, value in (meta or {}).items() if key != "rawError"}
        return fields(meta=kept or None, **others)

    return broken


FAULTS: Final = (
    _loops(
        name="fence-forgotten-at-calls",
        says="Text after a tool call counts as prose though a block of code is still open.",
        origin="a detector that starts over at each call",
        closed_by="loops/content_fence_call",
        breaks=lambda: replaced(f"{_DETECTOR}.add_tool_call", _outside_code),
    ),
    _loops(
        name="lists-count-as-chant",
        says="Lists, tables and headings that repeat themselves are taken for a loop.",
        origin="exceptions of the detector left for later",
        breaks=lambda: replaced("services.loop_detection.content:_STRUCTURE", _no_structure),
    ),
    _loops(
        name="loop-check-without-the-task",
        says="The model that is asked about a loop is not told what the user had asked for.",
        origin="an argument added upstream after the port",
        breaks=lambda: replaced(f"{_CHECK}.turn_started", _not_told),
    ),
    _loops(
        name="loop-setting-not-heeded",
        says="Loops are looked for though the settings say not to.",
        origin="a service made with its defaults",
        breaks=lambda: replaced(f"{_DETECTOR}.__init__", _never_disabled),
    ),
    _loops(
        name="turns-of-all-prompts-counted",
        says="A model is asked about a loop by the turns of the session, not of the prompt.",
        origin="a reset that one of three counters misses",
        breaks=lambda: replaced(f"{_CHECK}.reset", _counting_on),
    ),
    _loops(
        name="chant-excerpt-of-the-end",
        says="A loop in the text is told with the text's end, not with what is repeated.",
        origin="an index that has moved on by the time it is used",
        breaks=lambda: replaced("services.loop_detection.content:ContentLoops.excerpt", _as_of_now),
    ),
    _loops(
        name="chant-only-at-even-distance",
        says="A sentence that comes back at changing distances is no loop.",
        origin="a detector of cycles put in the place of one of repetitions",
        breaks=lambda: replaced(
            "services.loop_detection.content:ContentLoops._is_loop", _at_even_distance
        ),
        closed_by="loops/content_uneven",
    ),
    _loops(
        name="next-speaker-judged-by-the-last-turn",
        says="The model that says who speaks next is shown the last turn alone.",
        origin="a question asked beside the conversation instead of in it",
        breaks=lambda: replaced("services.next_speaker:UtilityRequest", _last_turn),
    ),
    _shown(
        name="media-of-results-not-shown",
        says="Images and files that a tool returns are not told to clients.",
        origin="a conversion written for text",
        breaks=lambda: replaced("services.presentation.content:_shown", _without_media),
    ),
    _sent(
        name="references-not-sent",
        says="What a message refers to, a mentioned file say, is left out of what is sent.",
        origin="a conversion with branches for text and media alone",
        breaks=lambda: replaced("services.presentation.content:_sent", _without_references),
    ),
    _sent(
        name="media-by-address-not-sent",
        says="Media that a message names by their address are left out of what is sent.",
        origin="a client library's helper, which takes bytes",
        breaks=lambda: replaced("services.presentation.content:_sent_media", _data_alone),
    ),
    _sent(
        name="thoughts-sent-as-texts",
        says="A thought in a message is sent as plain text.",
        origin="a conversion that looks at what a part says and not at what it is",
        breaks=lambda: replaced("services.presentation.content:_sent", _thoughts_as_texts),
    ),
    _errors(
        name="unlisted-statuses-named-by-class",
        says="A status that has no name of its own gets that of its class instead of INTERNAL.",
        origin="another library's table of statuses",
        breaks=lambda: replaced("services.presentation.errors:status_name", _by_class_of_status),
    ),
    _errors(
        name="raw-errors-not-told",
        says="An error is told without the one that the model layer reported.",
        origin="a field taken for a debugging aid",
        breaks=lambda: replaced("services.presentation.errors:ErrorFields", _without_the_error),
    ),
)
