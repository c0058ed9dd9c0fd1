"""Faults of an interactive session: tasks, steps, questions, plans, topics.

They were written after the cassettes of these families.
"""

from __future__ import annotations

from typing import Any, Final

from seeded_faults import Behaviour, Faults, Site
from seeded_faults.wrappers import first, instead, keeps, passing, put, result, returns

held_out = Faults(Site.SERVICE, Behaviour.INTERACTIVE, held_out=True)
_TRACKER: Final = "services.tracker:Tracker"
_ASKED: Final = "services.tools.ask_user:AskUserInvocation"


def _without(key: str) -> Any:
    return lambda fields: {name: value for name, value in fields.items() if name != key}


tasks_closed_before_their_dependencies = held_out.wrap(
    f"{_TRACKER}._require_closed_dependencies",
    returns(None),
    says="A task can be closed while a task that it depends on is open.",
    origin="a rule that only the prompt states",
)
circles_of_tasks_accepted = held_out.wrap(
    f"{_TRACKER}._refuse_circle",
    returns(None),
    says="Tasks may depend on each other in a circle.",
    origin="a check that creating a task does not need",
)
tasks_without_parents = held_out.wrap(
    f"{_TRACKER}.create",
    passing(fields=_without("parentId")),
    says="A new task forgets the task that it is a part of.",
    origin="a field that has another name on disk",
)
tasks_of_each_run = held_out.wrap(
    "services.session:Session.tasks",
    result(lambda folder: folder.parent / "run"),
    says="The tasks are in a folder that does not belong to the session.",
    origin="a folder named by the process and not by the session",
)
tasks_but_the_first_hidden = held_out.wrap(
    "services.tools.tracker:shown_tasks",
    passing(tasks=lambda tasks: tasks[:1]),
    says="The user sees only the first task.",
    origin="the display of a single task used for the list",
)
steps_described_otherwise = held_out.wrap(
    "services.tools.write_todos:_WriteTodos.description",
    result(lambda text: text.replace("todo(s)", "todos")),
    says="The description of a list of steps has other words.",
    origin="a text put into better words",
)
partial_answers_lost = held_out.wrap(
    f"{_ASKED}.answered",
    instead(
        lambda answered, self, outcome, payload: answered(self, outcome, _whole(self, payload))
    ),
    says="If the user answers only some of the questions, no answer reaches the model.",
    origin="a form that is submitted whole or not at all",
)
dismissed_dialog_is_empty = held_out.wrap(
    f"{_ASKED}.execute",
    first(put("_outcome", None)),
    says="A dialog that the user closes counts as submitted without answers.",
    origin="one result for no answer",
)
answers_without_headers = held_out.wrap(
    f"{_ASKED}._line",
    instead(lambda line, self, index, answer: line(self, f"x{index}", answer)),
    says="The user sees answers without the headers of their questions.",
    origin="an index that is text in one language and a number in the other",
)
escaped_breaks_shown = held_out.wrap(
    "services.tools.ask_user:_unescaped",
    instead(lambda _, text: text),
    says="Questions show escaped line breaks.",
    origin="texts passed on as the model writes them",
)
plan_names_unchecked = held_out.wrap(
    "services.tools.exit_plan_mode:ExitPlanModeTool.check_values",
    returns(None),
    says="The name of a plan is not checked before the call.",
    origin="checks left to the execution",
)
approved_plan_keeps_the_mode = held_out.wrap(
    "services.tools.exit_plan_mode:ExitPlanModeInvocation._approved",
    keeps("host.state._approval_mode"),
    says="An approved plan leaves plan mode in force.",
    origin="a mode that the surface switches itself",
)
intent_of_a_topic_forgotten = held_out.wrap(
    "services.tools.update_topic:_UpdateTopic.execute",
    first(put("_tool.last_intent", "")),
    says="An empty intent does not show the one before.",
    origin="a tool that is made anew for each call",
)


def _whole(self: Any, payload: Any) -> Any:
    answers = (payload or {}).get("answers")
    asked = len(self.params["questions"])
    if isinstance(answers, dict) and len(answers) < asked:
        return {**payload, "answers": {}}
    return payload
