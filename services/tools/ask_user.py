"""`ask_user`: questions to the user. Without a user the policy refuses the call in every mode.

Source: core `tools/ask-user.ts`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from services.tools.base import BuiltinInvocation, DeclarativeTool
from services.tools.contract import (
    ConfirmationDetails,
    ConfirmationOutcome,
    ToolExecution,
    ToolInvocation,
    ToolKind,
    ToolResult,
)
from services.tools.parameters import arguments, array, boolean, string
from services.wire import Json, JsonObject, js_entries, js_json, js_trim

__all__ = ["AskUserTool"]

_MIN_OPTIONS: Final = 2
_MAX_OPTIONS: Final = 4
_INDEX: Final = re.compile(r"\s*[+-]?[0-9]{1,9}")
"""What JavaScript's `parseInt` reads; longer numbers are those of no question."""


class AskUserTool(DeclarativeTool):
    """Asks one to four questions; the confirmation of the call carries the answers."""

    name = "ask_user"
    display_name = "Ask User"
    kind = ToolKind.COMMUNICATE
    description = (
        "Ask the user one to four questions, where you need a preference, a missing fact or a "
        "decision before you can go on."
    )
    parameters: ClassVar[JsonObject] = arguments(
        ["questions"],
        questions=array(
            arguments(
                ["question", "header", "type"],
                question=string("The whole question, with its question mark."),
                header=string("One or two words that name the question: `Database`."),
                type=string(
                    "choice: one of `options`, or something else. text: free text. "
                    "yesno: yes, no, or something else.",
                    enum=["choice", "text", "yesno"],
                    default="choice",
                ),
                options=array(
                    arguments(
                        ["label", "description"],
                        label=string("The answer in one to five words."),
                        description=string("What choosing it means, in a few words."),
                    ),
                    "For `choice` alone: two to four answers. A way to answer "
                    "otherwise is always added.",
                ),
                multiSelect=boolean("For `choice`: true when several may be chosen."),
                placeholder=string("A hint inside the field for free text."),
            ),
            minItems=1,
            maxItems=4,
        ),
    )

    def check_values(self, params: JsonObject) -> str | None:
        """Check that a choice has two to four options, and that every option has a label."""
        for number, question in enumerate(params["questions"], 1):
            options: list[JsonObject] | None = question.get("options")
            if question["type"] == "choice":
                if not options or len(options) < _MIN_OPTIONS:
                    return (
                        f"Question {number}: type='choice' requires 'options' array with 2-4 items."
                    )
                if len(options) > _MAX_OPTIONS:
                    return f"Question {number}: 'options' array must have at most 4 items."
            for place, option in enumerate(options or (), 1):
                if not js_trim(option["label"]):
                    return (
                        f"Question {number}, option {place}: 'label' is required and must be a "
                        "non-empty string."
                    )
        return None

    def invocation(self, params: JsonObject) -> ToolInvocation:
        """The call for validated `params`, with escaped line breaks replaced by real ones."""
        questions = [_with_line_breaks(question) for question in params["questions"]]
        return AskUserInvocation(self, {"questions": questions})


def _with_line_breaks(question: JsonObject) -> JsonObject:
    shown = {**question, "question": _unescaped(question["question"])}
    for key in ("header", "placeholder"):
        if question.get(key):
            shown[key] = _unescaped(question[key])
    if question.get("options") is not None:
        shown["options"] = [
            {
                **option,
                "label": _unescaped(option["label"]),
                "description": _unescaped(js_trim(option["description"])),
            }
            for option in question["options"]
        ]
    return shown


def _unescaped(text: str) -> str:
    return text.replace("\\r\\n", "\n").replace("\\n", "\n")


class AskUserInvocation(BuiltinInvocation):
    """One round of questions; the scheduler passes the answers to `answered`."""

    def __init__(self, tool: DeclarativeTool, params: JsonObject) -> None:
        super().__init__(tool, params)
        self._outcome: ConfirmationOutcome | None = None
        self._answers: Json = {}

    def description(self) -> str:
        """The questions, one after the other."""
        questions = (question["question"] for question in self.params["questions"])
        return f"Asking user: {', '.join(questions)}"

    def confirmation_details(self) -> ConfirmationDetails | None:
        """The questions themselves."""
        return ConfirmationDetails(
            type="ask_user", title="Ask User", fields={"questions": self.params["questions"]}
        )

    def answered(self, outcome: ConfirmationOutcome, payload: Mapping[str, Any] | None) -> None:
        """Take the answer to the confirmation; `answers` has the questions' indices as keys.

        A client may send answers of another form. They go to the model as they are, if they can be
        shown to the user; if not, the call fails.
        """
        self._outcome = outcome
        if payload is not None and "answers" in payload:
            self._answers = payload["answers"]

    async def execute(self, execution: ToolExecution) -> ToolResult:
        """Return the answers.

        Raises:
            TypeError: an answer is no text, or there are none; the message is upstream's.
        """
        kinds = [question["type"] for question in self.params["questions"]]
        if self._outcome is ConfirmationOutcome.CANCEL:
            return ToolResult(
                llm_content="User dismissed ask_user dialog without answering.",
                return_display="User dismissed dialog",
                data={"ask_user": {"question_types": kinds, "dismissed": True}},
            )
        answers = js_entries(self._answers)
        shown = "User submitted without answering questions."
        if answers:
            lines = [self._line(index, answer) for index, answer in answers]
            shown = "**User answered:**\n" + "\n".join(lines)
        return ToolResult(
            llm_content=js_json({"answers": self._answers}),
            return_display=shown,
            data={
                "ask_user": {
                    "question_types": kinds,
                    "dismissed": False,
                    "empty_submission": not answers,
                    "answer_count": len(answers),
                }
            },
        )

    def _line(self, index: str, answer: Json) -> str:
        if answer is None:
            raise TypeError("Cannot read properties of null (reading 'split')")
        if not isinstance(answer, str):
            raise TypeError("answer.split is not a function")
        questions: list[JsonObject] = self.params["questions"]
        found = _INDEX.match(index)
        place = int(found[0]) if found else -1
        named = questions[place] if 0 <= place < len(questions) else {}
        category = named.get("header", f"Q{index}")
        start = f"  {category} → "
        return start + answer.replace("\n", "\n" + " " * len(start))
