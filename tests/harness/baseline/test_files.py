import copy
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from harness.baseline.files import (
    Baseline,
    BaselineFormatError,
    baseline_file,
    baseline_text,
    parse_baseline,
    read_baseline,
    write_baseline,
)
from harness.cassette.document import MAX_BYTES
from harness.errors import UsageError
from harness.parity.compare import compare_observations, observation_digest
from harness.replay.observation import Observation, ObservedRequest
from harness.replay.request_log import RequestLog
from tests.harness.samples import ask, conversation, observation, paths

NAME = "tools/read"
DIGEST = "ab" * 32


def made(base: str = "/tmp/run-a") -> Baseline:
    return Baseline.of(observation(base=base), NAME, DIGEST)


def objected() -> Baseline:
    """A run in whose second request the API has something against two places."""
    log = RequestLog(paths())
    tools = {"tools": [{"functionDeclarations": [{"name": "glob"}]}]}
    contents = conversation()[:3]
    contents[2] = {"role": "user", "parts": [*contents[2]["parts"], {"text": ""}]}
    for count in (1, 3):
        log.observe("generateContentStream", ask(contents[:count], config=tools))
    return Baseline.of(replace(observation(), requests=log.requests), NAME, DIGEST)


def document() -> Any:
    return json.loads(baseline_text(made()))


def parsed(value: Any) -> Baseline:
    return parse_baseline(json.dumps(value), Path("b.json"), NAME)


def objection(**changes: Any) -> dict[str, Any]:
    return {"request": 0, "rule": "text-empty", "path": "contents[0]", "message": "m", **changes}


def places(stored: Baseline) -> list[str]:
    compared = compare_observations(stored.observation, made().observation)
    return [each.place for each in compared.divergences]


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    file = write_baseline(tmp_path, made())
    stored = read_baseline(tmp_path, NAME)

    assert file == tmp_path / "tools" / "read.json"
    assert stored is not None
    assert places(stored) == []
    assert observation_digest(stored.observation) == observation_digest(made().observation)
    assert stored.cassette_sha256 == DIGEST
    assert (stored.observation.runtime, stored.observation.versions) == (
        "legacy",
        {"parity": "0.1.0"},
    )
    assert baseline_text(stored) == file.read_text()


def test_words_of_its_own_are_still_its_own_when_read_back() -> None:
    seen = replace(observation(), words="theirs", requests=[])
    text = baseline_text(Baseline.of(seen, NAME, DIGEST))
    stored = parse_baseline(text, Path("b"), NAME).observation

    assert stored.words == "theirs"


def test_between_two_products_the_words_may_differ_and_the_behaviour_may_not() -> None:
    value = document()
    value["words"] = "theirs"
    for request in value["observation"]["requests"]:
        request.update(systemDigest="00" * 32, toolsDigest="11" * 32)
    assert places(parsed(value)) == []

    value["observation"]["requests"][0]["tools"] = ["glob"]
    assert places(parsed(value)) != []


def test_equal_runs_in_different_folders_give_the_same_bytes() -> None:
    assert baseline_text(made()) == baseline_text(made("/somewhere/else/run-b"))


def test_no_path_of_the_machine_is_written() -> None:
    text = baseline_text(made())

    assert "/tmp/run-a" not in text
    assert "<WS>" in text


def test_each_item_has_a_line_of_its_own() -> None:
    lines = baseline_text(made()).splitlines()

    assert lines[:3] == ["{", '"format": 2,', f'"name": "{NAME}",']
    assert sum('"id": "s0-' in line for line in lines) == 7
    assert sum('"sameAsPrevious": ' in line for line in lines) == 2
    assert sum(line.startswith('{"$set"') for line in lines) == 1


def test_calls_keep_the_order_in_which_they_appeared() -> None:
    seen = replace(observation(), tool_states={"z": ["success"], "a": ["error"]})

    stored = parse_baseline(baseline_text(Baseline.of(seen, NAME, DIGEST)), Path("b"), NAME)

    assert list(stored.observation.tool_states) == ["z", "a"]


def test_what_the_api_objects_to_is_kept_with_its_request() -> None:
    stored = parse_baseline(baseline_text(objected()), Path("b"), NAME).observation

    assert [[each.rule for each in request.provider] for request in stored.requests] == [
        [],
        ["call-undeclared", "text-empty"],
    ]
    assert stored.requests == objected().observation.requests


def test_that_a_run_hung_is_kept() -> None:
    seen = replace(observation(), stalled=True, error="the run stalled")

    stored = parse_baseline(baseline_text(Baseline.of(seen, NAME, DIGEST)), Path("b"), NAME)

    assert stored.observation.hung


def test_every_field_of_an_observation_has_its_place() -> None:
    elsewhere = {"name", "runtime", "words", "paths", "versions"}
    elsewhere |= {"broken", "deadline_passed", "refused"}  # such runs are not kept
    elsewhere |= {"order", "times"}  # not compared
    elsewhere |= {"hooks", "raced"}  # compared between our runtimes only, which need no baseline
    elsewhere |= {"children", "threads"}  # written where there are any: see test_children
    elsewhere |= {
        "screens",
        "wire",
        "unfinished",
    }  # our runtimes only: the core has neither, see the fields
    elsewhere |= {"progress"}  # written where it was observed: see test_progress
    elsewhere |= {"channels", "custom"}  # written where a runtime has not all: see test_shown
    elsewhere |= {"left_out", "vary"}  # the project's, when the runs are compared
    elsewhere |= {"error_place"}  # for messages
    shown = {"tool_states": "toolStates", "side_events": "sideEvents"}
    shown |= {"workspace_changes": "workspaceChanges", "unused_steps": "unusedSteps"}
    kept = {field.name for field in fields(Observation)} - elsewhere
    assert {shown.get(name, name) for name in kept} | {"provider"} == set(document()["observation"])

    derived = {"digest", "system_instruction", "provider"}
    asked = {field.name.replace("_", "") for field in fields(ObservedRequest)}
    written = {key.lower() for key in document()["observation"]["requests"][0]}
    assert asked - {name.replace("_", "") for name in derived} == written


def test_a_file_grows_with_the_conversation_and_not_with_its_square() -> None:
    request = document()["observation"]["requests"][1]

    assert (request["sameAsPrevious"], len(request["newContents"])) == (1, 2)


@pytest.mark.parametrize(
    ("tamper", "place"),
    [
        (
            lambda o: o["events"][3]["content"][0].update(text="It says bye."),
            "events[3] message(agent): content[0].text",
        ),
        (
            lambda o: o["requests"][0]["newContents"][0]["parts"][1].update(text="Read b.txt"),
            "requests[0] generateContentStream(main): contents[0].parts[1].text",
        ),
        (
            lambda o: o["requests"][0].update(systemDigest="00" * 32),
            "requests[0] generateContentStream(main): systemInstruction",
        ),
        (
            lambda o: o["transcript"][3]["parts"][0].update(text="?"),
            "transcript[3] content(model): ",
        ),
        (lambda o: o["toolStates"][0]["states"].pop(), "tool_states[0] call: states[3]"),
        (lambda o: o["retries"][0].update(delayMs=1), "retries[0] retry: retry.delayMs"),
        (lambda o: o["workspaceChanges"].update({"new.txt": "x"}), "workspace[0] new.txt: text"),
        (lambda o: o["notes"].append("one"), "requests replay: notes[0]"),
        (lambda o: o.update(error="boom"), "requests replay: error"),
    ],
)
def test_a_file_changed_by_hand_is_found_at_the_place(
    tamper: Callable[[Any], None], place: str
) -> None:
    value = document()
    tamper(value["observation"])

    assert places(parsed(value))[0].startswith(place)


@pytest.mark.parametrize(
    ("tamper", "words"),
    [
        (lambda d: d.pop("format"), "format: is missing"),
        (lambda d: d.update(format=1), "format: is 1; this build reads 2; use the build that"),
        (lambda d: d.update(format="1"), "format: is '1'; this build reads 2"),
        (lambda d: d.update(name="tools/write"), "name: is 'tools/write', not 'tools/read'"),
        (lambda d: d.update(cassetteSha256="abc"), "cassetteSha256: is not a SHA-256"),
        (lambda d: d.update(runtime=None), "runtime: must be text, not nothing"),
        (lambda d: d.pop("words"), "words: is missing"),
        (lambda d: d.pop("versions"), "versions: is missing"),
        (lambda d: d["versions"].update(parity=1), "versions.parity: must be text, not 1"),
        (lambda d: d.update(surprise=1), "surprise: unknown key"),
        (lambda d: d.pop("observation"), "observation: is missing"),
        (lambda d: d.update(observation=[]), "observation: must be a mapping, not a list"),
        (lambda d: d["observation"].pop("events"), "observation.events: this key is required"),
        (lambda d: d["observation"].update(events={}), "observation.events: must be a list"),
        (
            lambda d: d["observation"]["events"].append(1),
            "observation.events[7]: must be a mapping",
        ),
        (
            lambda d: d["observation"]["events"][4].update(inputTokens="ten"),
            "observation.events[4].inputTokens: must be a number, not 'ten'",
        ),
        (
            lambda d: d["observation"]["requests"][1].update(sameAsPrevious=2),
            "observation.requests[1].sameAsPrevious: is 2, but the request before had 1 contents",
        ),
        (
            lambda d: d["observation"]["requests"][0].update(model=None),
            "observation.requests[0].model: must be text",
        ),
        (
            lambda d: d["observation"]["toolStates"].append(d["observation"]["toolStates"][0]),
            "observation.toolStates[1].call: read_file_1767225600001_0 is there twice",
        ),
        (
            lambda d: d["observation"]["retries"][0].update(delayMs=True),
            "observation.retries[0].delayMs: must be a number",
        ),
        (
            lambda d: d["observation"]["recording"].update(f="text"),
            "observation.recording.f: must be a list",
        ),
        (
            lambda d: d["observation"]["workspaceChanges"].update(f=1),
            "observation.workspaceChanges.f: must be text",
        ),
        (
            lambda d: d["observation"].update(unusedSteps=[-1]),
            "observation.unusedSteps[0]: Input should be greater than or equal to 0",
        ),
        (
            lambda d: d["observation"].pop("provider"),
            "observation.provider: this key is required",
        ),
        (
            lambda d: d["observation"]["provider"].append(objection(request=2)),
            "observation.provider[0].request: is 2, but there are 2 requests",
        ),
        (
            lambda d: d["observation"]["provider"].append(objection(rule="none-such")),
            "observation.provider[0].rule: there is no rule none-such",
        ),
        (
            lambda d: d["observation"]["provider"].append(objection(severity="error")),
            "observation.provider[0].severity: unknown key",
        ),
    ],
)
def test_the_error_of_a_malformed_file_names_file_key_and_remedy(
    tamper: Callable[[Any], None], words: str
) -> None:
    value = document()
    tamper(value)

    with pytest.raises(BaselineFormatError) as caught:
        parsed(value)

    assert str(caught.value).startswith(f"baseline b.json: {words}")
    assert "create it again with `parity baseline`" in str(caught.value)
    assert caught.value.exit_code == 2


@pytest.mark.slow
def test_no_wrong_value_anywhere_in_a_file_breaks_the_comparison() -> None:
    whole = document()
    fresh = made().observation
    refused = compared = 0
    for path in list(_paths(whole)):
        for wrong in (None, True, 7, 1.5, "text", [], [1], {}, {"a": 1}):
            value = copy.deepcopy(whole)
            holder = value
            for key in path[:-1]:
                holder = holder[key]
            holder[path[-1]] = wrong
            try:
                stored = parsed(value)
            except BaselineFormatError:
                refused += 1
            else:
                compare_observations(stored.observation, fresh)
                compared += 1
    assert refused > 100
    assert compared > 100


def _paths(value: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    pairs: Any = ()
    if isinstance(value, dict):
        pairs = value.items()
    elif isinstance(value, list):
        pairs = enumerate(value)
    for key, item in pairs:
        yield (*here, key)
        yield from _paths(item, (*here, key))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"not json", "not JSON"),
        (b'{"format": 2', "not JSON"),
        (b"[1]", "must be a mapping, not a list"),
        (b'{"format": 2, "format": 2}', "format: the same key is there twice"),
        (b'{"format": NaN}', "NaN"),
        (b'{"format": ' + b"9" * 5000 + b"}", "is not a JSON number"),
        (b"\xff\xfe", "is not UTF-8"),
        (b'{"format": 2, "name": ' + b"[" * 200_000, "nested deeper than 64"),
    ],
)
def test_a_file_that_is_no_document_is_refused(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "x.json").write_bytes(content)

    with pytest.raises(BaselineFormatError, match=r"x\.json") as caught:
        read_baseline(tmp_path, "x")

    assert words in str(caught.value)


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.touch()
    os.truncate(file, MAX_BYTES + 1)

    with pytest.raises(BaselineFormatError, match="is larger than 64 MB"):
        read_baseline(tmp_path, "x")


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.json")

    with pytest.raises(BaselineFormatError, match="is not a regular file"):
        read_baseline(tmp_path, "x")


def test_a_baseline_that_is_not_there_is_none(tmp_path: Path) -> None:
    (tmp_path / "a").touch()

    assert read_baseline(tmp_path, "x") is None
    assert read_baseline(tmp_path, "a/x") is None


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/../../x"])
def test_no_name_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="a baseline cannot have the name"):
        baseline_file(tmp_path, name)


def test_a_write_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "tools" / "read.json").mkdir(parents=True)

    with pytest.raises(OSError, match=r"read\.json"):
        write_baseline(tmp_path, made())

    assert [path.name for path in (tmp_path / "tools").iterdir()] == ["read.json"]


def test_what_could_not_be_read_back_is_not_written(tmp_path: Path) -> None:
    deep: Any = "x"
    for _ in range(70):
        deep = [deep]
    seen = replace(observation(), side_events=[{"event": deep}])

    with pytest.raises(BaselineFormatError, match="nested deeper"):
        write_baseline(tmp_path, Baseline.of(seen, NAME, DIGEST))

    assert list(tmp_path.iterdir()) == []
