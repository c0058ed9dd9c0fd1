from __future__ import annotations

from typing import Any

import pytest

from services.settings import SettingError, settings_from_file, settings_from_parameters
from services.settings.hooks import CommandHook, HookDefinition, read_hooks


def command(**fields: Any) -> dict[str, Any]:
    return {"type": "command", "command": "true", **fields}


def test_definitions_keep_the_order_of_the_settings() -> None:
    read = read_hooks(
        {
            "enabled": True,
            "BeforeTool": [
                {"matcher": "read_.*", "sequential": True, "hooks": [command(name="one")]},
                {"matcher": "", "sequential": "yes", "hooks": [command(timeout=5, env={"A": 1})]},
            ],
            "AfterTool": [{"hooks": []}],
        }
    )

    assert read == (
        HookDefinition(
            event="BeforeTool",
            hooks=(CommandHook(command="true", name="one"),),
            matcher="read_.*",
            sequential=True,
        ),
        HookDefinition(
            event="BeforeTool",
            hooks=(CommandHook(command="true", timeout_ms=5, env={"A": "1"}),),
        ),
        HookDefinition(event="AfterTool"),
    )


@pytest.mark.parametrize("nothing", [None, {}, "", {"BeforeTool": []}, {"notifications": 1}])
def test_nothing_defines_no_hooks(nothing: Any) -> None:
    assert read_hooks(nothing) == ()


@pytest.mark.parametrize("value", [[], "x", [{"hooks": [{"type": "plugin"}]}]])
def test_an_unknown_event_is_kept_whatever_stands_there(value: Any) -> None:
    assert read_hooks({"BeforeTools": value}) == (HookDefinition(event="BeforeTools"),)


def test_hooks_of_an_unknown_event_are_known_by_name() -> None:
    (definition,) = read_hooks({"Nope": [{"hooks": [command(name="x")]}]})

    assert definition.hooks == (CommandHook(command="true", name="x"),)


@pytest.mark.parametrize(
    ("hooks", "message"),
    [
        (["x"], r"hooks: a mapping like {\"BeforeTool\": \[…\]} expected, not \['x'\]"),
        ({"BeforeTool": {}}, r"hooks\.BeforeTool: a list of definitions expected, not {}"),
        (
            {"BeforeTool": [command()]},
            r"hooks\.BeforeTool\[0\]: a mapping like {\"hooks\": .* expected, not {'type': .*",
        ),
        (
            {"BeforeTool": [{"hooks": ["true"]}]},
            r"hooks\.BeforeTool\[0\]\.hooks\[0\]: a hook like .* expected, not 'true'",
        ),
        (
            {"BeforeTool": [{"hooks": [command(), {"command": "true"}]}]},
            r"hooks\.BeforeTool\[0\]\.hooks\[1\]\.type: \"command\" expected.*, not None",
        ),
        (
            {"BeforeTool": [{"hooks": [{"type": "runtime", "name": "x"}]}]},
            r"hooks\.BeforeTool\[0\]\.hooks\[0\]\.type: \"command\" expected.*, not 'runtime'",
        ),
        (
            {"BeforeTool": [{"hooks": [{"type": "command"}]}]},
            r"hooks\.BeforeTool\[0\]\.hooks\[0\]\.command: the command to run expected.*",
        ),
        (
            {"BeforeTool": [{"hooks": [command(name=3)]}]},
            r"hooks\.BeforeTool\[0\]\.hooks\[0\]\.name: a text expected, not 3",
        ),
        (
            {"BeforeTool": [{"hooks": [command(timeout="5")]}]},
            r"hooks\.BeforeTool\[0\]\.hooks\[0\]\.timeout: a number of milliseconds .*, not '5'",
        ),
        (
            {"BeforeTool": [{"hooks": [command(env={"A": []})]}]},
            r"hooks\.BeforeTool\[0\]\.hooks\[0\]\.env: a mapping of names .*, not {'A': \[\]}",
        ),
        (
            {"BeforeTool": [{"matcher": 1, "hooks": []}]},
            r"hooks\.BeforeTool\[0\]\.matcher: a text expected, not 1",
        ),
    ],
)
def test_a_broken_definition_is_an_error_with_its_place(hooks: Any, message: str) -> None:
    with pytest.raises(SettingError, match=f"^{message}$"):
        settings_from_parameters({"hooks": hooks})


def test_parameters_and_the_users_file_switch_hooks_alike() -> None:
    hooks = {"BeforeTool": [{"hooks": [command()]}]}

    from_parameters = settings_from_parameters(
        {"hooks": hooks, "disabledHooks": ["a"], "enableHooks": False}
    )
    from_file = settings_from_file(
        {"hooks": hooks, "hooksConfig": {"disabled": ["a"], "enabled": False}}
    )

    assert from_parameters == from_file
    assert from_parameters.hooks == read_hooks(hooks)
    assert from_parameters.disabled_hooks == ("a",)
    assert from_parameters.enable_hooks is False


@pytest.mark.parametrize(
    ("timeout_ms", "limit_ms"),
    [(60_000, 60_000), (0.5, 1), (0, 1), (-5, 1), (2**31 - 1, 2**31 - 1), (2**31, 1)],
)
def test_a_limit_that_timers_cannot_count_is_one_millisecond(
    timeout_ms: float, limit_ms: float
) -> None:
    assert CommandHook(command="x", timeout_ms=timeout_ms).limit_ms == limit_ms
