"""What only interactive sessions have: plans, questions, tasks, hints, checkpoints.

The ids of a run's tasks are always the same, so calls can name them. Every question is answered:
only an abort, which may not come, would end the wait for an answer that is never given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from harness.scenarios.chooser import Chooser
from harness.scenarios.grammar.chunks import chunk
from harness.scenarios.grammar.texts import answer_text
from harness.scenarios.grammar.tool_calls import function_call
from services.wire import Json, JsonObject

__all__ = ["Surface"]

_PLANS: Final = ("p.md", "q.md", "../p.md", "missing.md", "", "a.txt")
_TASKS: Final = ("d07b2b", "6697ee", "00ac0e", "none00")
_STATUSES: Final = ("open", "in_progress", "blocked", "closed")
_DELAYS: Final = (500, 5_000, 90_000)
_QUESTIONS: Final[dict[str, tuple[Json, ...]]] = {
    "validation": ("verify", "cancel", "change_auth"),
    "loop": ("keep", "disable"),
    "trust": ("TRUST_FOLDER", "DO_NOT_TRUST", "TRUST_PARENT"),
    "new_agents": ("acknowledge", "ignore"),
}
"""Kinds of questions, and their answers."""
_CALLS: Final = {
    "ask_user": 10,
    "tracker": 14,
    "todos": 5,
    "topic": 4,
    "enter_plan_mode": 10,
    "exit_plan_mode": 12,
}
_NEW_AGENT: Final = "---\nname: counter\ndescription: Counts crates\n---\nYou count.\n"
_UNVERIFIED: Final[JsonObject] = {
    "error": {
        "status": 403,
        "message": "verify",
        "grpc": "PERMISSION_DENIED",
        "details": [
            {
                "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                "reason": "VALIDATION_REQUIRED",
                "domain": "cloudcode-pa.googleapis.com",
                "metadata": {"validation_link": "https://verify.example"},
            }
        ],
    }
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """The client of one interactive session, and its user."""

    settings: JsonObject
    files: JsonObject
    """Further files of the workspace."""
    checkpoints: bool
    """Whether there are checkpoints: without them the published tool has no command to restore."""
    answers: JsonObject
    """Answers to questions other than those of tools and of the fallback."""

    @classmethod
    def drawn(cls, choose: Chooser) -> Surface:
        """The settings of the session, and how its user answers."""
        settings: JsonObject = {}
        if choose.chance("steering", 600):
            settings["modelSteering"] = True
        checkpoints = choose.chance("checkpoints", 350)
        if checkpoints:
            settings["checkpointing"] = True
        if choose.chance("tracker", 400):
            settings["tracker"] = True
        if choose.chance("plan_switched_off", 40):
            settings["plan"] = False
        answers: JsonObject = {
            kind: [_answer(choose, known)]
            for kind, known in _QUESTIONS.items()
            if choose.chance(f"{kind}_question", 150)
        }
        files: JsonObject = {}
        if "new_agents" in answers:
            files[".gemini/agents/counter.md"] = _NEW_AGENT
        return cls(settings=settings, files=files, answers=answers, checkpoints=checkpoints)

    def confirmations(self, choose: Chooser, outcomes: list[Json]) -> list[Json]:
        """The answers to confirmations: some modified, partial or late."""
        return [_confirmation(choose, outcome) for outcome in outcomes]

    def round(self, choose: Chooser) -> list[JsonObject]:
        """The steps of a model that plans, asks, or keeps its tasks."""
        kind = choose.option("surface_call", _CALLS)
        if kind == "tracker":
            return _tasks(choose)
        parts: list[JsonObject] = [{"functionCall": _surface_call(choose, kind)}]
        if choose.chance("call_beside", 200):
            parts.insert(choose.whole(0, 1), {"functionCall": function_call(choose)})
        if choose.chance("text_before_calls", 250):
            parts.insert(0, {"text": answer_text(choose) or "Let me see."})
        plans = any(part.get("functionCall", {}).get("name") == "exit_plan_mode" for part in parts)
        if plans and not choose.chance("plan_unwritten", 150):
            return [_writes_plan(choose), {"stream": [chunk(parts, "STOP")]}]
        return [{"stream": [chunk(parts, "STOP")]}]

    def faults(self, choose: Chooser) -> list[JsonObject]:
        """Errors that only a user can mend."""
        return [_UNVERIFIED] if choose.chance("unverified", 40) else []


def _answer(choose: Chooser, known: tuple[Json, ...]) -> Json:
    kind = choose.option("answer", {"known": 20, "late": 6, "wrong": 3, "fails": 3})
    if kind == "wrong":
        return {"wrong": choose.among(("maybe", 7))}
    if kind == "fails":
        return {"fails": "closed"}
    answer = choose.among(known)
    return {"answer": answer, "delay_ms": choose.among(_DELAYS)} if kind == "late" else answer


def _confirmation(choose: Chooser, outcome: Json) -> Json:
    kind = choose.option("confirmed", {"plain": 12, "with_payload": 20, "late": 5})
    if kind == "plain":
        return outcome
    if kind == "late":
        return {"outcome": outcome, "delay_ms": choose.among(_DELAYS)}
    return {"outcome": choose.among(("proceed_once", outcome)), "payload": _payload(choose)}


def _payload(choose: Chooser) -> JsonObject:
    """An answer that fits one kind of question or several: the next question is not known."""
    payload: JsonObject = {}
    if choose.chance("decides_about_plan", 600):
        payload["approved"] = choose.among((True, False))
        if payload["approved"] and choose.chance("mode_after_plan", 600):
            payload["approvalMode"] = choose.among(("autoEdit", "default", "yolo", "plan"))
        if not payload["approved"] and choose.chance("feedback", 600):
            payload["feedback"] = choose.among(("smaller steps", "  "))
    if choose.chance("answers_questions", 600):
        payload["answers"] = choose.among(
            ({"0": "A"}, {}, {"0": "A", "1": "Ada"}, {"1": "Ada"}, {"0": "A, B", "7": "x"})
        )
    if choose.chance("modifies", 200):
        payload["newContent"] = choose.among(("modified\n", "", "alpha\n"))
    return payload


def _tasks(choose: Chooser) -> list[JsonObject]:
    """Calls of the tracker, one in each answer: parallel ones are a race in the published core."""
    calls = [_task_call(choose) for _ in range(1 + len([*choose.times("more_tasks", 3, 500)]))]
    return [{"stream": [chunk([{"functionCall": call}], "STOP")]} for call in calls]


def _surface_call(choose: Chooser, kind: str) -> JsonObject:
    if kind == "ask_user":
        return _asked(choose)
    if kind == "todos":
        steps = choose.among(
            (("completed", "in_progress", "pending"), (), ("blocked", "cancelled"))
        )
        todos = [{"description": f"step {number}", "status": at} for number, at in enumerate(steps)]
        return _call("write_todos", {"todos": todos})
    if kind == "topic":
        title = choose.among(("Looking", "Mending", ""))
        return _call("update_topic", {"title": title, "strategic_intent": choose.among(("a", ""))})
    if kind == "enter_plan_mode":
        return _call(kind, choose.among(({"reason": "it is big"}, {}, {"reason": ""})))
    return _call(kind, {"plan_filename": choose.among(_PLANS)})


def _asked(choose: Chooser) -> JsonObject:
    options = [{"label": label, "description": "one of them"} for label in "AB"]
    questions: list[JsonObject] = [
        {"question": "Which?", "header": "Pick", "type": "choice", "options": options}
    ]
    if choose.chance("multi_select", 200):
        questions[0]["multiSelect"] = True
    if choose.chance("second_question", 500):
        questions.append({"question": "Your\\nname?", "header": "Name", "type": "text"})
    if choose.chance("third_question", 200):
        questions.append({"question": "Sure?", "header": "Sure", "type": "yesno"})
    return _call("ask_user", {"questions": questions})


def _task_call(choose: Chooser) -> JsonObject:
    kind = choose.option(
        "task_call",
        {"create": 20, "update": 8, "depend": 6, "list": 3, "get": 3, "visualize": 2},
    )
    task = choose.among(_TASKS)
    if kind == "create":
        made: JsonObject = {"title": "a task", "description": "All about it"}
        made["type"] = choose.among(("task", "epic", "bug", "chore"))
        if choose.chance("task_of_another", 300):
            made["parentId"] = task
        if choose.chance("task_that_waits", 200):
            made["dependencies"] = [task]
        return _call("tracker_create_task", made)
    if kind == "update":
        return _call("tracker_update_task", {"id": task, "status": choose.among(_STATUSES)})
    if kind == "depend":
        ids = {"taskId": task, "dependencyId": choose.among(_TASKS)}
        return _call("tracker_add_dependency", ids)
    if kind == "list":
        return _call("tracker_list_tasks", choose.among(({}, {"status": "open"}, {"type": "bug"})))
    return (
        _call("tracker_visualize", {})
        if kind == "visualize"
        else _call("tracker_get_task", {"id": task})
    )


def _writes_plan(choose: Chooser) -> JsonObject:
    text = choose.among(("# Plan\n1. do x\n", "", "  \n"))
    call = _call("write_file", {"file_path": choose.among(_PLANS[:2]), "content": text})
    return {"stream": [chunk([{"functionCall": call}], "STOP")]}


def _call(name: str, args: JsonObject) -> JsonObject:
    return {"name": name, "args": args}
