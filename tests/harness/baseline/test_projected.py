import json
from dataclasses import replace
from typing import Any

import pytest

from harness.baseline.projected import projected
from harness.canonical import sha256_hex
from harness.parity.compare import compare_observations, observation_digest
from harness.replay.observation import ChildObservation, Observation
from harness.replay.request_log import RequestLog
from tests.harness.samples import ask, model, observation, paths, user

CONTEXT = (
    "<session_context>\nToday is Thursday.\nThe operating system is linux.\n"
    "The workspace is {ws}.\n</session_context>"
)


def with_context(text: str = CONTEXT, base: str = "/tmp/run-a", after: str = "") -> Observation:
    """A run that begins with an environment context."""
    context = text.format(ws=f"{base}/ws") + after
    contents = [{"role": "user", "parts": [{"text": context}, {"text": "Hi"}]}, model("Hello")]
    log = RequestLog(paths(base))
    config = {**ask([]).config, "systemInstruction": f"You work in {base}/ws."}
    log.observe("generateContentStream", ask(contents[:1], config=config))
    log.observe("generateContentStream", ask([*contents, user("Bye")], config=config))
    line = {"$set": {"messages": [{"type": "user", "content": [{"text": context}]}]}}
    return replace(
        observation(base=base),
        transcript=contents,
        requests=log.requests,
        recording={"chat.jsonl": [line]},
    )


def shown(seen: Observation) -> list[str]:
    """The context as it stands in request, transcript and recording."""
    line: Any = seen.recording["chat.jsonl"][0]
    return [
        seen.requests[0].new_contents[0]["parts"][0]["text"],
        seen.transcript[0]["parts"][0]["text"],
        line["$set"]["messages"][0]["content"][0]["text"],
    ]


def test_the_environment_context_is_kept_as_a_hash_wherever_it_stands() -> None:
    expected = CONTEXT.format(ws="<WS>").replace("linux", "<OS>")

    kept = shown(projected(with_context()))

    assert kept == [f"<session_context> sha256:{sha256_hex(expected)}"] * 3


def test_what_follows_the_context_in_the_same_text_is_kept() -> None:
    kept = shown(projected(with_context(after="\n\nRead </session_context> a.txt")))

    assert kept[0].startswith("<session_context> sha256:")
    assert kept[0].endswith("\n\nRead </session_context> a.txt")


def test_a_context_that_never_ends_is_hashed_whole() -> None:
    kept = shown(projected(with_context("<session_context>\nopen {ws}")))

    assert (
        kept[0] == f"<session_context> sha256:{sha256_hex(f'<session_context>{chr(10)}open <WS>')}"
    )


@pytest.mark.parametrize("system", ["darwin", "win32", "freebsd"])
def test_the_hash_does_not_know_the_operating_system(system: str) -> None:
    for words in ("The operating system is {}.", "My operating system is: {}\n"):
        one, other = (
            projected(
                with_context(f"<session_context>\n{words.format(name)} {{ws}}</session_context>")
            )
            for name in ("linux", system)
        )
        assert shown(one) == shown(other)


def test_a_changed_environment_text_is_a_divergence() -> None:
    changed = CONTEXT.replace("Thursday", "Friday")

    found = compare_observations(
        projected(with_context()), projected(with_context(changed))
    ).divergences

    places = [each.place for each in found]
    assert "requests[0] generateContentStream(main): contents[0].parts[0].text" in places, places
    assert any(place.startswith("transcript[0]") for place in places)
    assert any(place.startswith("recording[1]") for place in places)


def test_a_changed_system_instruction_is_a_divergence_that_shows_both_digests() -> None:
    log = RequestLog(paths())
    log.observe("generateContentStream", ask([user("Hi")]))
    other = RequestLog(paths())
    config = {**ask([]).config, "systemInstruction": "You work elsewhere."}
    other.observe("generateContentStream", ask([user("Hi")], config=config))
    sides = [projected(replace(observation(), requests=each.requests)) for each in (log, other)]

    found = compare_observations(sides[0], sides[1]).divergences

    assert [each.path for each in found] == ["systemInstruction"]
    assert str(found[0].control).startswith("sha256:")
    assert found[0].control != found[0].candidate


def test_changed_tool_declarations_are_a_divergence() -> None:
    declared = {
        "functionDeclarations": [{"name": "read_file", "description": "d"}, {"name": "glob"}]
    }
    logs = [RequestLog(paths()), RequestLog(paths())]
    logs[0].observe("generateContentStream", ask([user("Hi")]))
    logs[1].observe(
        "generateContentStream",
        ask([user("Hi")], config={**ask([]).config, "tools": [declared]}),
    )
    sides = [projected(replace(observation(), requests=log.requests)) for log in logs]

    assert [e.path for e in compare_observations(sides[0], sides[1]).divergences] == ["toolsDigest"]


def test_digests_are_those_of_the_request_log_where_nothing_is_replaced() -> None:
    log = RequestLog(paths())
    asked = [user("Hi"), model("Hello"), user("In /tmp/run-a/ws")]
    for contents in (asked[:1], asked, [asked[0], model("Short"), user("Go on")]):
        log.observe("generateContentStream", ask(contents))
        log.observe("countTokens", ask([user("How many?")], thread="0/0"))

    kept = projected(replace(observation(), requests=log.requests))

    assert [each.digest for each in kept.requests] == [each.digest for each in log.requests]


def test_where_a_run_was_does_not_show() -> None:
    here, there = projected(with_context()), projected(with_context(base="/somewhere/else/run-b"))

    assert observation_digest(here) == observation_digest(there)
    assert here.requests == there.requests


def test_projecting_twice_is_the_same_as_once() -> None:
    once = projected(with_context(after="x" * 70_000))

    assert observation_digest(projected(once)) == observation_digest(once)
    assert shown(projected(once)) == shown(once)
    assert projected(once).requests == once.requests


def test_the_run_itself_stays_as_it_was() -> None:
    seen = with_context()
    before = observation_digest(seen)

    projected(seen)

    assert observation_digest(seen) == before
    assert shown(seen) == [CONTEXT.format(ws="/tmp/run-a/ws")] * 3


def test_a_stack_becomes_a_marker() -> None:
    kept = projected(observation()).events[5]

    assert kept["_meta"] == {"code": "E1", "stack": "<stack>"}


def test_a_very_long_text_is_shortened_and_still_compared() -> None:
    one, other = (
        projected(replace(observation(), workspace_changes={"f": "x" * 70_000 + end}))
        for end in ("a", "b")
    )

    assert len(one.workspace_changes["f"] or "") < 1200
    assert [e.path for e in compare_observations(one, other).divergences] == ["text"]


def test_interpreters_are_no_part_of_what_made_it() -> None:
    versions = {"python": "3.11.7", "node": "20.1.0", "gemini-cli-core": "0.61.0"}

    kept = projected(replace(observation(), versions=versions))

    assert kept.versions == {"gemini-cli-core": "0.61.0"}


def test_a_run_that_hung_still_hangs() -> None:
    kept = projected(replace(observation(), stalled=True, deadline_passed=True, error="slow"))

    assert (kept.stalled, kept.deadline_passed) == (True, True)
    assert kept.blocker == "could not go on by itself: slow"


def test_an_engine_that_broke_is_still_broken() -> None:
    assert projected(replace(observation(), broken=True, error="gone")).blocker == "broke: gone"


def test_an_agents_long_result_leaves_the_ids_in_its_progress_readable() -> None:
    progress = json.dumps(
        {"isSubagentProgress": True, "recentActivity": [{"id": "x#0-0"}], "result": "r" * 20_000},
        separators=(",", ":"),
    )
    event = {"type": "tool_response", "display": {"result": {"type": "text", "text": progress}}}
    kept: Any = projected(replace(with_context(), events=[event])).events[0]

    shown = json.loads(kept["display"]["result"]["text"])
    assert shown["recentActivity"] == [{"id": "x#0-0"}]
    assert shown["result"].endswith(f"… 20000 characters, sha256:{sha256_hex('r' * 20_000)}")
    again: Any = projected(projected(replace(with_context(), events=[event]))).events[0]
    assert again == kept


def test_an_agents_id_in_a_text_that_is_hashed_is_its_thread() -> None:
    def kept(agent_id: str) -> str:
        text = f"in tool-outputs/{agent_id}.txt " + "t" * 20_000
        child = ChildObservation(thread="0/1", agent="helper", agent_id=agent_id, activities=())
        message = {"role": "user", "parts": [{"text": text}]}
        seen: Any = projected(replace(with_context(), transcript=[message], children=[child]))
        return str(seen.transcript[0]["parts"][0]["text"])

    assert kept("an-id").startswith("in tool-outputs/<agent 0/1>.txt")
    assert kept("an-id") == kept("another-id-altogether")
