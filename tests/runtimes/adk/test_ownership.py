"""Who writes what: an attribute of a mutable class of the runtime has at most two modules."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3] / "runtimes" / "adk"

# What stands before the dot in an assignment to another object's attribute, without `self.` and
# `run.`: the class of that object; None where it is ADK's or a service's.
RECEIVERS: dict[str, str | None] = {
    "run": "Run",
    "step": "Step",
    "stream": "Stream",
    "call": "_Call",
    "tool": "_AddedTool",
    "model": "GcliAgentModel",
    "shell": "GeminiCliAgent",
    "events": "SessionEvents",
    "known": "_Known",
    **dict.fromkeys(("content", "event", "llm_request", "request", "session")),
}


class Module(ast.NodeVisitor):
    """What one module assigns: (class, attribute), and (receiver, attribute) of other objects."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.own: set[tuple[str, str]] = set()
        self.foreign: set[tuple[str, str]] = set()
        self._classes: list[str] = []
        self.visit(ast.parse(text))

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._classes.append(node.name)
        if "frozen=True" not in "".join(map(ast.unparse, node.decorator_list)):
            self.own |= {
                (node.name, each.target.id)
                for each in node.body
                if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
            }
        self.generic_visit(node)
        self._classes.pop()

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if isinstance(node.ctx, ast.Store | ast.Del):
            receiver = ast.unparse(node.value)
            if receiver == "self" and self._classes:
                self.own.add((self._classes[-1], node.attr))
            else:
                short = receiver.removeprefix("self.").removeprefix("_run.").removeprefix("run.")
                self.foreign.add((short, node.attr))
        self.generic_visit(node)


def modules() -> list[Module]:
    # A seeded fault may write what it likes: it is there to break the runtime.
    paths = sorted(path for path in ROOT.rglob("*.py") if "faults" not in path.parts)
    return [Module(path.relative_to(ROOT).as_posix(), path.read_text()) for path in paths]


def crowded(modules: list[Module]) -> dict[tuple[str, str], set[str]]:
    """The attributes of classes that more than two modules assign, and those modules.

    Raises:
        AssertionError: an assignment may be to an object of ours, and RECEIVERS does not say.
    """
    homes: dict[str, set[str]] = defaultdict(set)
    for module in modules:
        for _, attribute in module.own:
            homes[attribute].add(module.name)
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for module in modules:
        for written in module.own:
            found[written].add(module.name)
        for receiver, attribute in module.foreign:
            unsure = receiver not in RECEIVERS and homes[attribute] - {module.name}
            assert not unsure, f"{module.name}: RECEIVERS has no {receiver!r} (.{attribute})"
            if RECEIVERS.get(receiver) is not None:
                found[str(RECEIVERS[receiver]), attribute].add(module.name)
    return {written: by for written, by in found.items() if len(by) > 2}


def test_no_attribute_is_assigned_in_more_than_two_modules():
    assert crowded(modules()) == {}


def test_classes_of_the_receivers_are_there():
    defined = {name for module in modules() for name, _ in module.own}
    assert set(filter(None, RECEIVERS.values())) <= defined


@pytest.mark.parametrize(
    "line", ["run.end = None", "self._run.step.key = None", "def f(run): run.left -= 1"]
)
def test_third_module_is_noticed(line):
    assert len(crowded([Module(f"{number}.py", line) for number in range(3)])) == 1


def test_receiver_that_may_be_ours_has_to_be_known():
    ours = "class A:\n    def __init__(self): self.mine = 1"
    with pytest.raises(AssertionError, match="stranger"):
        crowded([Module("a.py", ours), Module("b.py", "stranger.mine = 2")])
