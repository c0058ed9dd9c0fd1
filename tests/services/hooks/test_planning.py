from __future__ import annotations

import pytest

from services.hooks.planning import Subject, make_plan
from services.settings.hooks import CommandHook, HookDefinition

NOTHING: frozenset[str] = frozenset()


def definition(*names: str, matcher: str | None = None, sequential: bool = False) -> HookDefinition:
    hooks = tuple(CommandHook(command=f"run {name}", name=name) for name in names)
    return HookDefinition(event="BeforeTool", hooks=hooks, matcher=matcher, sequential=sequential)


def names(*definitions: HookDefinition, subject: Subject) -> list[str]:
    return [hook.name for hook in make_plan(definitions, NOTHING, subject).hooks]


# What HookPlanner of the published core says of each.
MATCHERS = [
    ("read", "read_file", True),
    ("read", "spread_out", True),
    ("^read$", "read_file", False),
    ("write_file|read_file", "read_file", True),
    (" read ", "read_file", True),
    ("", "read_file", True),
    ("  ", "read_file", True),
    ("*", "read_file", True),
    ("(", "read_file", False),
    ("(", "(", True),
    ("[a", "[a", True),
    ("a{", "a{", True),
    ("(?i)READ", "read_file", False),
    ("(?i)READ", "(?i)READ", True),
    ("(?P<n>read)", "read_file", False),
    ("(?<n>read)", "read_file", True),
    ("(?<!x)read", "read_file", True),
    ("read_file++", "read_file", False),
    ("[*+]+", "a+", True),
    ("\\++", "a+", True),
    ("a{1}+", "a", False),
    ("read_fil\\e", "read_file", True),
    ("[^]", "x", True),
    ("[]", "x", False),
    ("$", "x", True),
]


@pytest.mark.parametrize(("matcher", "tool", "matches"), MATCHERS)
@pytest.mark.contract("P-139")
def test_a_tools_matcher_is_searched_for_as_javascript_would(
    matcher: str, tool: str, matches: bool
) -> None:
    found = names(definition("h", matcher=matcher), subject=Subject(tool=tool))

    assert found == (["h"] if matches else [])


def test_a_trigger_must_be_equal() -> None:
    both = (definition("a", matcher="auto"), definition("b", matcher="aut"))

    assert names(*both, subject=Subject(trigger="auto")) == ["a"]


def test_events_without_a_subject_take_every_matcher() -> None:
    assert names(definition("a", matcher="nothing"), subject=Subject()) == ["a"]


def test_only_the_first_of_equal_hooks_runs() -> None:
    first = CommandHook(command="run", name="n", timeout_ms=1)
    plan = make_plan(
        [
            HookDefinition(event="BeforeTool", hooks=(first, CommandHook(command="run"))),
            HookDefinition(
                event="BeforeTool", hooks=(CommandHook(command="run", name="n"),), sequential=True
            ),
        ],
        NOTHING,
    )

    assert plan.hooks == (first, CommandHook(command="run"))
    assert not plan.sequential


def test_one_definition_makes_all_sequential_if_it_matches() -> None:
    plain, other = definition("a"), definition("b", matcher="write", sequential=True)

    assert make_plan([plain, other], NOTHING, Subject(tool="write_file")).sequential
    assert not make_plan([plain, other], NOTHING, Subject(tool="read_file")).sequential


def test_hooks_are_disabled_by_name_or_by_the_command_of_those_without() -> None:
    hooks = (
        CommandHook(command="one", name="a"),
        CommandHook(command="two"),
        CommandHook(command="three", name="b"),
    )
    plan = make_plan(
        [HookDefinition(event="BeforeTool", hooks=hooks)], frozenset({"a", "two", "three"})
    )

    assert plan.hooks == hooks[2:]
