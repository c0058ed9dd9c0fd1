"""Questions about calls as the extension asks them, and what the chosen options mean.

The dialect has options, and no field for answers. So each question of `ask_user` is asked after the
one before, with its choices as options. A text in the message with the confirmation is the answer
to an option that wants one.

Source: RFC "Gemini CLI A2A Development-Tool Extension", 3.2, "Tool Calls", and core
`tools/ask-user.ts`, `tools/exit-plan-mode.ts` for the answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from services.state import ApprovalMode
from services.tools.contract import ConfirmationDetails, ConfirmationOutcome
from services.wire import JsonObject
from surfaces.a2a.extension.schema import (
    ConfirmationOption,
    ConfirmationRequest,
    ExecuteDetails,
    FileDiff,
    GenericDetails,
    McpDetails,
)
from surfaces.allowed import Allowed

__all__ = [
    "ALWAYS",
    "CANCEL",
    "ONCE",
    "WANT_TEXT",
    "diff_of",
    "is_multiple",
    "options_payload",
    "question_about",
]

ONCE: Final = ConfirmationOption(id=ConfirmationOutcome.PROCEED_ONCE, name="Allow Once")
CANCEL: Final = ConfirmationOption(id=ConfirmationOutcome.CANCEL, name="Reject")
ALWAYS: Final = ConfirmationOption(
    id=ConfirmationOutcome.PROCEED_ALWAYS, name="Allow for this session"
)
_OF_SERVER: Final = ConfirmationOption(
    id=ConfirmationOutcome.PROCEED_ALWAYS_SERVER, name="Allow all tools of the server"
)
_OF_TOOL: Final = ConfirmationOption(
    id=ConfirmationOutcome.PROCEED_ALWAYS_TOOL, name="Allow the tool for this session"
)
_FOR_EVER: Final = ConfirmationOption(
    id=ConfirmationOutcome.PROCEED_ALWAYS_AND_SAVE, name="Allow for all future sessions"
)
_BEYOND_ONCE: Final[Mapping[str, tuple[ConfirmationOption, ...]]] = {
    "edit": (ALWAYS,),
    "exec": (ALWAYS,),
    "info": (ALWAYS,),
    "mcp": (_OF_SERVER, _OF_TOOL),
}
_TEXT: Final = "answer"
_SKIP: Final = "skip"
_FEEDBACK: Final = "feedback"
_AUTO_EDIT: Final = "proceed_auto_edit"
WANT_TEXT: Final = frozenset({_TEXT, _FEEDBACK})
"""The options whose answer is the text of the message."""
_IN_TEXT: Final = "The answer is the text in the message of the confirmation."
_OF_PLAN: Final = (
    ConfirmationOption(
        id=_AUTO_EDIT,
        name="Approve, accept edits automatically",
        description="The plan is approved, and files are changed without further questions.",
    ),
    ConfirmationOption(
        id=ConfirmationOutcome.PROCEED_ONCE,
        name="Approve, confirm edits",
        description="The plan is approved, and each tool asks first.",
    ),
    ConfirmationOption(id=_FEEDBACK, name="Reject with feedback", description=_IN_TEXT),
    CANCEL,
)


def question_about(
    details: ConfirmationDetails,
    args: JsonObject,
    allowed: Allowed,
    given: Mapping[str, str] | None = None,
) -> ConfirmationRequest:
    """The question about a call.

    Args:
        details: what the tool asks.
        args: the call's arguments.
        allowed: what the settings let the user allow beyond one call.
        given: the answers to the first questions of `ask_user`, by their numbers from 0.
    """
    kind, fields = details.type, details.fields
    if kind == "ask_user":
        return _next_question(fields["questions"], len(given or ()))
    if kind == "exit_plan_mode":
        generic = GenericDetails(description=_lines(details.title, fields["planPath"]))
        return ConfirmationRequest(options=_OF_PLAN, generic_details=generic)
    options = (ONCE, *_beyond(kind, allowed), CANCEL)
    if kind == "exec":
        directory = args.get("dir_path")
        execute = ExecuteDetails(
            command=fields["command"],
            working_directory=directory if isinstance(directory, str) else None,
        )
        return ConfirmationRequest(options=options, execute_details=execute)
    if kind == "edit":
        return ConfirmationRequest(options=options, file_edit_details=diff_of(fields))
    if kind == "mcp":
        mcp = McpDetails(server_name=fields["serverName"], tool_name=fields["toolName"])
        return ConfirmationRequest(options=options, mcp_details=mcp)
    generic = GenericDetails(description=_lines(details.title, str(fields.get("prompt", ""))))
    return ConfirmationRequest(options=options, generic_details=generic)


def options_payload(
    details: ConfirmationDetails, chosen: Sequence[str], text: str, given: dict[str, str]
) -> JsonObject | None:
    """What the answer to a call carries beside its outcome; `None`: another question follows.

    Args:
        details: what the tool asks.
        chosen: the ids of the chosen options, which were offered; several if `is_multiple`.
        text: the text of the message.
        given: the answers to the questions of `ask_user` so far; the answer is added.
    """
    if details.type == "exit_plan_mode":
        if chosen[0] == _FEEDBACK:
            return {"approved": False, "feedback": text}
        mode = ApprovalMode.AUTO_EDIT if chosen[0] == _AUTO_EDIT else ApprovalMode.DEFAULT
        return {"approved": True, "approvalMode": str(mode)}
    if details.type != "ask_user":
        return {}
    questions: Sequence[Mapping[str, Any]] = details.fields["questions"]
    number = len(given)
    given[str(number)] = _answer(questions[number], chosen, text)
    if len(given) < len(questions):
        return None
    return {"answers": {number: answer for number, answer in given.items() if answer}}


def is_multiple(details: ConfirmationDetails, given: Mapping[str, str]) -> bool:
    """Whether several options of the question may be chosen."""
    if details.type != "ask_user":
        return False
    return bool(details.fields["questions"][len(given)].get("multiSelect"))


def diff_of(fields: Mapping[str, Any]) -> FileDiff:
    """The change of a file, from a confirmation or a result."""
    return FileDiff(
        file_name=fields.get("fileName") or "",
        file_path=fields.get("filePath") or "",
        old_content=fields.get("originalContent"),
        new_content=fields["newContent"],
        formatted_diff=fields["fileDiff"],
    )


def _beyond(kind: str, allowed: Allowed) -> Iterator[ConfirmationOption]:
    if allowed.session and kind in _BEYOND_ONCE:
        yield from _BEYOND_ONCE[kind]
        if allowed.for_ever:
            yield _FOR_EVER


def _next_question(questions: Sequence[Mapping[str, Any]], number: int) -> ConfirmationRequest:
    question = questions[number]
    head = question.get("header") or ""
    if len(questions) > 1:
        head = f"{head} ({number + 1} of {len(questions)})".strip()
    generic = GenericDetails(
        description=_lines(head, question["question"], question.get("placeholder") or "")
    )
    options = (*_choices(question), *((_skip(),) if len(questions) > 1 else ()), CANCEL)
    return ConfirmationRequest(options=options, generic_details=generic)


def _choices(question: Mapping[str, Any]) -> Iterator[ConfirmationOption]:
    for number, label in enumerate(_labels(question)):
        about = (question.get("options") or [{}] * 2)[number].get("description")
        yield ConfirmationOption(id=f"option_{number + 1}", name=label, description=about)
    name = "Answer" if question["type"] == "text" else "Another answer"
    yield ConfirmationOption(id=_TEXT, name=name, description=_IN_TEXT)


def _skip() -> ConfirmationOption:
    return ConfirmationOption(id=_SKIP, name="Leave it open")


def _labels(question: Mapping[str, Any]) -> list[str]:
    if question["type"] == "yesno":
        return ["Yes", "No"]
    if question["type"] == "text":
        return []
    return [option["label"] for option in question.get("options") or ()]


def _answer(question: Mapping[str, Any], chosen: Sequence[str], text: str) -> str:
    """The text that the model gets; an empty one stands for no answer."""
    labels = {f"option_{number + 1}": label for number, label in enumerate(_labels(question))}
    named = {**labels, _TEXT: text, _SKIP: ""}
    return ", ".join(named[option] for option in chosen)


def _lines(*lines: str) -> str:
    return "\n".join(filter(None, lines))
