"""Who writes what: an attribute of a mutable class of the runtime has at most two modules."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3] / "runtimes" / "adk"

# What stands before the dot in an assignment to another object's attribute, without `self.` and
# `run.`: the class of that object; None where it is ADK's or a service's.
RECEIVERS = {
    "run": "Run",
    "step": "Step",
    "turn": "Turn",
    "calls[-1]": "Call",
    "calls[-1].outcome": "CallOutcome",
    "task": "ChildTask",
    "stream": "OpenStream",
    "_relay": "ActivityRelay",
    "_session": "SessionTurns",
    "model": "GcliAgentModel",
    "shell": "GeminiCliAgent",
    **dict.fromkeys(
        (
            *("content", "context", "event", "event.actions", "invocation_context", "llm_request"),
            *("llm_request.config", "logger", "services.hooks", "services.spoken", "session"),
            *("_services.state", "state"),
        )
    ),
}


class Writes(ast.NodeVisitor):
    """The assignments to attributes in one module: (class, attribute), and unknown receivers."""

    def __init__(self, tree: ast.Module) -> None:
        self._classes: list[str] = []
        self.found: set[tuple[str, str]] = set()
        self.unknown: set[str] = set()
        self.visit(tree)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._classes.append(node.name)
        self.generic_visit(node)
        self._classes.pop()

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.ctx, ast.Store | ast.Del):
            receiver = ast.unparse(node.value)
            if receiver == "self" and self._classes:
                self.found.add((self._classes[-1], node.attr))
            else:
                self._foreign(receiver.removeprefix("self.").removeprefix("run."), node.attr)
        self.generic_visit(node)

    def _foreign(self, receiver: str, attribute: str) -> None:
        if receiver not in RECEIVERS:
            self.unknown.add(f"{receiver}.{attribute}")
        elif RECEIVERS[receiver] is not None:
            self.found.add((RECEIVERS[receiver], attribute))


def sources() -> Iterator[tuple[str, str]]:
    for path in sorted(ROOT.rglob("*.py")):
        yield path.relative_to(ROOT).as_posix(), path.read_text()


def writers(modules: list[tuple[str, str]]) -> dict[tuple[str, str], set[str]]:
    """Of each attribute of a class the modules that assign it.

    Raises:
        AssertionError: something is assigned to an object whose class `RECEIVERS` does not say.
    """
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for module, text in modules:
        writes = Writes(ast.parse(text))
        assert not writes.unknown, f"{module}: RECEIVERS does not know {writes.unknown}"
        for written in writes.found:
            found[written].add(module)
    return found


def crowded(modules: list[tuple[str, str]]) -> dict[tuple[str, str], set[str]]:
    return {written: by for written, by in writers(modules).items() if len(by) > 2}


def test_no_attribute_is_assigned_in_more_than_two_modules():
    assert crowded(list(sources())) == {}


def test_classes_of_the_receivers_are_there():
    defined = {
        node.name
        for _, text in sources()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ClassDef)
    }
    assert set(filter(None, RECEIVERS.values())) <= defined


@pytest.mark.parametrize(
    "line", ["run.end = None", "self._run.step.key = None", "def f(run): run.turn.left -= 1"]
)
def test_third_module_is_noticed(line):
    others = [(f"{number}.py", line.replace("_run.", "")) for number in range(3)]
    assert len(crowded(others)) == 1


def test_unknown_receiver_is_noticed():
    with pytest.raises(AssertionError, match="unheard"):
        crowded([("a.py", "unheard.of = 1")])
