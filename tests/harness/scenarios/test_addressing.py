"""Threads of steps refer to turns, and are renumbered when turns are dropped."""

from __future__ import annotations

from harness.scenarios.addressing import calls_of_agents, is_main, turns_of, without_steps
from services.wire import JsonObject


def call(name: str) -> JsonObject:
    return {"functionCall": {"name": name, "args": {}}}


def calling(*names: str) -> JsonObject:
    parts = [call(name) for name in names]
    return {"role": "main", "stream": [{"candidates": [{"content": {"parts": parts}}]}]}


SAYS: JsonObject = {"text": "ok", "role": "main"}
FAILS: JsonObject = {"error": {"status": 400, "message": "no"}, "role": "main"}


def child(thread: str | None, text: str) -> JsonObject:
    step: JsonObject = {"text": text, "role": "subagent"}
    return step if thread is None else {**step, "thread": thread}


def test_calls_of_agents_are_counted_among_all_calls() -> None:
    assert calls_of_agents(calling("read_file", "invoke_agent", "ls", "invoke_agent")) == [1, 3]


def test_only_streams_that_end_are_turns() -> None:
    broken = {**calling("ls"), "then_error": {"status": 500, "message": "gone"}}
    assert [turns_of(step) for step in (SAYS, FAILS, broken, {**SAYS, "repeat": 3})] == [1, 0, 0, 3]
    assert turns_of(child("0/0", "x")) == 0
    assert not is_main({"json": {}, "role": "utility_router"})


def test_an_answer_takes_its_agents_steps_with_it() -> None:
    model = [SAYS, calling("invoke_agent"), child("1/0", "a"), calling("invoke_agent")]
    kept = without_steps([*model, child("2/0", "b")], {1})
    assert kept == [SAYS, calling("invoke_agent"), child("1/0", "b")]


def test_dropping_a_step_that_is_no_turn_renumbers_no_thread() -> None:
    model = [FAILS, calling("invoke_agent"), child("0/0", "a")]
    assert without_steps(model, {0}) == model[1:]


def test_repeated_answers_are_as_many_turns() -> None:
    model = [{**SAYS, "repeat": 2}, calling("invoke_agent"), child("2/0/3/1", "a")]
    assert without_steps(model, {0}) == [calling("invoke_agent"), child("0/0/3/1", "a")]


def test_steps_without_an_address_belong_to_the_answer_before_them() -> None:
    model = [calling("invoke_agent"), child(None, "a"), calling("invoke_agent"), child(None, "b")]
    assert without_steps(model, {0}) == model[2:]
