"""Probes of what agents' models are asked, off hand-made requests."""

from typing import Any

import pytest

from harness.replay.observation import ObservedRequest
from tests.harness.coverage.test_child_probes import asked, child, found, seen

GRACE = "You have one final chance to complete the task with"


def main(**changes: Any) -> ObservedRequest:
    return asked("x", role="main", thread="main", **changes)


def shown(*requests: ObservedRequest) -> set[str]:
    return found(seen(child(), requests=list(requests)))


def results(*names: str, calls: tuple[str, ...] = ()) -> ObservedRequest:
    made = [{"functionCall": {"name": name}} for name in calls or names]
    parts = [{"functionResponse": {"name": name, "response": {"output": ""}}} for name in names]
    contents = ({"role": "model", "parts": made}, {"role": "user", "parts": parts})
    return asked(role="main", thread="main", new_contents=contents)


def test_an_agent_has_its_parents_tools_or_none_or_others() -> None:
    parent = main(tools=("read_file", "glob", "invoke_agent", "update_topic"))

    assert "child:declares.as_parent" in shown(
        parent, asked(tools=("glob", "read_file", "complete_task"))
    )
    assert "child:declares.nothing_else" in shown(parent, asked(tools=("complete_task",)))
    others = shown(parent, asked(tools=("glob", "mcp_calc_sum", "complete_task")))
    assert {"child:declares.mcp", "child:declares.complete_task"} <= others
    fewer = shown(parent, asked(tools=("glob", "complete_task")))
    for some in (others, fewer):
        assert not {"child:declares.as_parent", "child:declares.nothing_else"} & some


def test_an_agents_model_and_temperature_are_its_parents_or_its_own() -> None:
    parent = main(model="gemini-2.5-pro", config={"temperature": 1})

    own = shown(parent, asked(config={"temperature": 0.2}))
    assert {"child:model.own", "child:temperature.own"} <= own
    same = shown(parent, asked(model="gemini-2.5-pro", config={"temperature": 1}))
    assert "child:model.as_parent" in same
    assert not {"child:model.own", "child:temperature.own"} & same


def test_a_router_asked_once_differs_from_one_asked_in_each_turn() -> None:
    router = asked(role="utility_router")

    assert {"child:routed.once", "child:routed.kept"} <= shown(router, asked("1"), asked("2"))
    again = shown(router, asked("1"), router, asked("2"))
    assert "child:routed.again" in again
    assert "child:routed.once" not in again


def test_histories_of_their_own_begin_without_an_answer() -> None:
    answer = {"role": "model", "parts": [{"text": "of the one before"}]}
    goes_on = asked(thread="1/0", new_contents=(answer,))

    assert "child:own_histories" in shown(asked(), asked(thread="1/0"))
    assert "child:own_histories" not in shown(asked(), goes_on)
    assert "child:own_histories" not in shown(asked(), asked(thread="0/1"))


def test_a_last_chance_is_the_only_one_and_the_last_request() -> None:
    assert "child:last_chance.once" in shown(asked("go"), asked(GRACE))
    assert "child:last_chance.once" not in shown(asked("go"), asked(GRACE), asked("more"))
    assert "child:last_chance.once" not in shown(asked("go"), asked(GRACE), asked(f"{GRACE} it"))
    assert "child:turn_unasked" in shown(asked(GRACE))
    assert "child:turn_unasked" not in shown(asked("go"), asked(GRACE))


def test_agents_without_a_hint_differ_from_those_with_one() -> None:
    hint = asked("User hints:\n- h", digest="2")

    assert "steering:child.none" in shown(asked("go"), asked("2"))
    assert "steering:child.none" not in shown(asked("go"))
    assert "steering:child.none" not in shown(asked("go"), hint)
    assert "steering:child.one_only" in shown(asked("go"), hint, asked("go", thread="0/1"))
    assert "steering:child.one_only" not in shown(asked("go"), hint)


def test_results_in_the_order_of_their_calls_show_beside_an_agents() -> None:
    assert "child:results_in_order" in shown(results("read_file", "invoke_agent"))
    turned = results("invoke_agent", "glob", calls=("glob", "invoke_agent"))
    assert "child:results_in_order" not in shown(turned)
    assert "child:results_in_order" not in shown(results("glob", "read_file"))
    assert "child:results_in_order" not in shown(results("invoke_agent"))


@pytest.mark.parametrize(
    ("text", "probe"),
    [
        ("<state_snapshot>\nx", "child:summary_in_history"),
        ("out\n<hook_context>c</hook_context>", "child:hook.context"),
        ("Output too large. Showing first 1", "child:truncated"),
        ("<loaded_context>\nm", "child:given.memory"),
    ],
)
def test_what_stands_in_an_agents_history_shows(text: str, probe: str) -> None:
    assert probe in shown(asked(text))
    assert probe not in shown(main(new_contents=asked(text).new_contents))
    assert probe not in shown(asked(text, role="utility_compressor"))


def test_parts_of_a_system_instruction_have_probes() -> None:
    skilled: dict[str, Any] = {"tools": ("activate_skill", "complete_task")}

    assert "child:given.skills" in shown(asked(system_instruction="activate_skill", **skilled))
    assert "child:given.skills" in shown(asked(system_instruction="sha256:00", **skilled))
    assert "child:given.skills" not in shown(asked(system_instruction="x", **skilled))
    assert "child:given.skills" not in shown(asked(system_instruction="activate_skill"))
    assert "child:given.memory" in shown(asked(system_instruction="--- Context from: a"))
    assert "child:given.plan_mode" in shown(asked(system_instruction="into <HOME>/x/plans/ only"))
    assert "child:given.plan_mode" not in shown(asked(system_instruction="in src/planner/"))


def test_a_long_result_is_long_in_a_baseline_too() -> None:
    def result(output: str) -> ObservedRequest:
        part = {"functionResponse": {"name": "invoke_agent", "response": {"output": output}}}
        return main(new_contents=({"role": "user", "parts": [part]},))

    assert "child:long_result" in shown(result("x" * 40_001))
    assert "child:long_result" not in shown(result("x" * 40_000))
    assert "child:long_result" in shown(result(f"x… 40001 characters, sha256:{'0' * 64}"))


def test_what_an_agent_says_and_reads_shows() -> None:
    said = {"role": "model", "parts": [{"text": "Looking."}]}
    thought = {"role": "model", "parts": [{"text": "hm", "thought": True}]}
    part = {"functionResponse": {"name": "glob", "response": {"error": "no"}}}

    assert "child:said" in shown(asked(new_contents=(said,)))
    assert "child:said" not in shown(asked(new_contents=(thought,)))
    assert "child:sent.error_result" in shown(
        asked(new_contents=({"role": "user", "parts": [part]},))
    )
    assert "child:config.toolConfig" in shown(asked(config={"toolConfig": {}}))
