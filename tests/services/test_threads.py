"""The thread of a request, found from streams and calls."""

from typing import Any

import pytest

from services.model.generator import LlmRole
from services.threads import MAIN, ThreadPaths

SUBAGENT = LlmRole.SUBAGENT


def turn(
    paths: ThreadPaths, thread: str, *wanted: tuple[str | None, str], ends: bool = True
) -> None:
    """A model turn of `thread` with these calls: (id, name)."""
    paths.turn_begins(thread)
    parts: list[dict[str, Any]] = [{"text": "well"}]
    for id_, name in wanted:
        called = {"name": name} if id_ is None else {"name": name, "id": id_}
        parts.append({"functionCall": called})
    paths.chunk(thread, {"candidates": [{"content": {"role": "model", "parts": parts}}]})
    if ends:
        paths.turn_ended(thread)


@pytest.fixture
def paths() -> ThreadPaths:
    return ThreadPaths()


def test_a_request_outside_of_calls_is_the_main_threads(paths: ThreadPaths) -> None:
    assert paths.of_request(None, LlmRole.MAIN) == MAIN
    assert paths.of_request("never seen", SUBAGENT) == MAIN


def test_a_child_is_called_by_turn_and_place(paths: ThreadPaths) -> None:
    turn(paths, MAIN, ("r", "read_file"))
    paths.call("r", "read_file", None)
    turn(paths, MAIN, ("g", "glob"), ("c", "child"))
    paths.call("g", "glob", None)
    paths.call("c", "child", None)

    assert paths.of_request("c", SUBAGENT) == "1/1"


def test_parallel_children_have_paths_of_their_own_whatever_their_order(
    paths: ThreadPaths,
) -> None:
    turn(paths, MAIN, ("a", "child"), ("b", "child"))
    paths.call("b", "child", None)
    paths.call("a", "child", None)

    assert [paths.of_request(id_, SUBAGENT) for id_ in "ba"] == ["0/1", "0/0"]


def test_calls_without_an_id_are_distinguished_by_name_and_order(paths: ThreadPaths) -> None:
    turn(paths, MAIN, (None, "child"), (None, "glob"), (None, "child"))
    paths.call("child_1_0", "child", None)
    paths.call("glob_1_1", "glob", None)
    paths.call("child_1_2", "child", None)

    made = [paths.of_request(id_, SUBAGENT) for id_ in ("child_1_0", "glob_1_1", "child_1_2")]
    assert made == ["0/0", "0/1", "0/2"]


def test_an_id_goes_before_a_name(paths: ThreadPaths) -> None:
    turn(paths, MAIN, (None, "child"), ("given", "child"))
    paths.call("given", "child", None)
    paths.call("made", "child", None)

    assert paths.of_request("given", SUBAGENT) == "0/1"
    assert paths.of_request("made", SUBAGENT) == "0/0"


def test_calls_of_an_attempt_that_failed_take_no_others_place(paths: ThreadPaths) -> None:
    turn(paths, MAIN, (None, "read_file"), (None, "glob"), ends=False)
    turn(paths, MAIN, (None, "child"), (None, "child"))
    calls = ("read_file_1_0", "glob_1_1", "child_2_0", "child_2_1")
    for id_ in calls:
        paths.call(id_, id_.rpartition("_")[0].rpartition("_")[0], None)

    assert [paths.of_call(id_) for id_ in calls] == ["0/0", "0/1", "0/2", "0/3"]


def test_a_call_that_is_reported_again_keeps_its_place(paths: ThreadPaths) -> None:
    turn(paths, MAIN, ("a", "child"), ("b", "child"))
    for id_ in "aabab":
        paths.call(id_, "child", None)

    assert [paths.of_request(id_, SUBAGENT) for id_ in "ab"] == ["0/0", "0/1"]


def test_the_same_id_twice_in_a_turn_takes_two_places(paths: ThreadPaths) -> None:
    turn(paths, MAIN, ("a", "child"), ("a", "child"), ("b", "child"))
    paths.call("a", "child", None)
    paths.call("a-1", "child", None)
    paths.call("b", "child", None)

    assert paths.of_request("b", SUBAGENT) == "0/2"
    assert {paths.of_request(id_, SUBAGENT) for id_ in ("a", "a-1")} == {"0/0", "0/1"}


def test_an_id_that_is_given_again_in_a_later_turn_is_another_call(paths: ThreadPaths) -> None:
    for _ in range(2):
        turn(paths, MAIN, ("r", "read_file"), ("k", "child"))
        for id_ in ("child__k", "read_file__r", "child__k"):
            paths.call(id_, id_.split("__")[0], None)

    assert paths.inside("child__k") == MAIN
    assert paths.of_request("child__k", SUBAGENT) == "1/1"


def test_a_renamed_call_takes_what_is_left(paths: ThreadPaths) -> None:
    turn(paths, MAIN, (None, "child"), (None, "old_name"))
    paths.call("a", "child", None)
    paths.call("b", "new_name", None)

    assert paths.of_request("b", SUBAGENT) == "0/1"


def test_a_call_that_no_turn_made_comes_after_all_others(paths: ThreadPaths) -> None:
    turn(paths, MAIN, ("a", "child"))
    paths.call("a", "child", None)
    paths.call("extra", "child", None)

    assert paths.of_request("extra", SUBAGENT) == "0/1"


def test_a_grandchilds_path_is_its_parents_with_its_own_appended(paths: ThreadPaths) -> None:
    turn(paths, MAIN, ("p", "child"))
    paths.call("p", "child", None)
    parent = paths.of_request("p", SUBAGENT)
    turn(paths, parent, ("x", "glob"))
    paths.call("x", "glob", "p")
    turn(paths, parent, ("y", "glob"), ("z", "child"))
    paths.call("y", "glob", "p")
    paths.call("z", "child", "p")

    assert paths.of_request("z", SUBAGENT) == "0/0/1/1"


def test_children_of_two_threads_do_not_mix(paths: ThreadPaths) -> None:
    turn(paths, MAIN, ("p", "child"), ("q", "child"))
    paths.call("p", "child", None)
    paths.call("q", "child", None)
    turn(paths, paths.of_request("p", SUBAGENT), ("s", "child"))
    turn(paths, paths.of_request("q", SUBAGENT), ("t", "glob"), ("u", "child"))
    paths.call("u", "child", "q")
    paths.call("s", "child", "p")

    assert paths.of_request("s", SUBAGENT) == "0/0/0/0"
    assert paths.of_request("u", SUBAGENT) == "0/1/0/1"


def test_a_tools_own_request_belongs_to_the_thread_that_called_it(paths: ThreadPaths) -> None:
    turn(paths, MAIN, ("e", "replace"), ("p", "child"))
    paths.call("e", "replace", None)
    paths.call("p", "child", None)
    child = paths.of_request("p", SUBAGENT)
    turn(paths, child, ("f", "replace"))
    paths.call("f", "replace", "p")

    assert paths.of_request("e", LlmRole.UTILITY_EDIT_CORRECTOR) == MAIN
    assert paths.of_request("f", LlmRole.UTILITY_EDIT_CORRECTOR) == child == "0/1"


def test_a_childs_own_utility_request_belongs_to_the_child(paths: ThreadPaths) -> None:
    turn(paths, MAIN, ("p", "child"))
    paths.call("p", "child", None)
    paths.of_request("p", SUBAGENT)

    assert paths.of_request("p", LlmRole.UTILITY_COMPRESSOR) == "0/0"


def test_a_turn_that_was_tried_again_counts_once(paths: ThreadPaths) -> None:
    turn(paths, MAIN, ("broken off", "child"), ends=False)
    turn(paths, MAIN, ("a", "glob"), ("b", "child"))
    paths.call("a", "glob", None)
    paths.call("b", "child", None)

    assert paths.of_request("b", SUBAGENT) == "0/1"


def test_chunks_without_calls_are_no_trouble(paths: ThreadPaths) -> None:
    paths.turn_begins(MAIN)
    for chunk in (
        {},
        {"candidates": None},
        {"candidates": [{}]},
        {"candidates": [{"content": {}}]},
    ):
        paths.chunk(MAIN, chunk)
    paths.chunk(MAIN, {"candidates": [{"content": {"parts": [{"functionCall": None}]}}]})
    paths.turn_ended(MAIN)
    paths.call("a", "child", None)

    assert paths.of_request("a", SUBAGENT) == "0/0"


def test_a_turn_that_was_left_counts_once_its_calls_were_run(paths: ThreadPaths) -> None:
    turn(paths, MAIN, ("a", "invoke_agent"), ends=False)
    paths.call("a", "invoke_agent", None)
    turn(paths, MAIN, ("b", "invoke_agent"), ends=False)
    paths.call("b", "invoke_agent", None)
    assert (paths.of_call("a"), paths.of_call("b")) == ("0/0", "1/0")


def test_a_turn_that_was_left_without_a_call_does_not_count(paths: ThreadPaths) -> None:
    turn(paths, MAIN, ("a", "invoke_agent"), ends=False)
    turn(paths, MAIN, ("b", "invoke_agent"))
    paths.call("b", "invoke_agent", None)
    assert paths.of_call("b") == "0/0"
