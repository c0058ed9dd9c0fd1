"""A driver that breaks: every run is reported, with its last words, and leaves nothing behind."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.replay.observation import Observation
from harness.replay.runner import run_cassette
from runtimes.published import PACKAGE
from runtimes.upstream import pool, process
from tests.runtimes.upstream.stand_ins import DRIVER, REPOSITORY, cassette, drive_with

pytestmark = pytest.mark.usefixtures("nothing_left")

LAST_WORDS = "its last words: these are the last words"


def run(monkeypatch: pytest.MonkeyPatch, behaviour: str, deadline_s: float = 20) -> Observation:
    drive_with(monkeypatch, behaviour)
    return run_cassette(cassette(), "upstream", deadline_s=deadline_s)


def test_the_stand_in_plays_a_whole_session(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = run(monkeypatch, "works")

    assert (seen.error, seen.blocker) == (None, None)
    assert [event["type"] for event in seen.events] == ["message", "agent_start", "agent_end"]


@pytest.mark.parametrize(
    ("behaviour", "problem"),
    [
        ("exits_at_once", "ended with exit code 3"),
        ("no_json", "not of its protocol: 'Debugger listening'"),
        ("no_text", "not of its protocol: '\N{REPLACEMENT CHARACTER}"),
        ("deep_json", "not of its protocol: '[[["),
        ("array", 'not of its protocol: \'["t", "idle"]\''),
        ("unknown_kind", 'not of its protocol: \'{"t": "greeting"}\''),
        ("kind_is_a_list", "not of its protocol"),
        ("no_id", "not of its protocol"),
        ("id_is_a_text", "not of its protocol"),
        ("unknown_notice", "not of its protocol"),
        ("unknown_mode", "not of its protocol"),
        ("unknown_role", "not of its protocol"),
        ("ready_again", "not of its protocol"),
        ("bad_event", "no event of the contract: "),
        ("event_without_time", "no event of the contract: "),
        ("event_of_no_agent", "no event of the contract: "),
        ("dies_after_its_request", "was killed by SIGKILL"),
        ("dies_in_its_call", "was killed by SIGKILL"),
        ("refuses_an_agent", "the core refused what it never should: agent: I will not"),
    ],
)
@pytest.mark.sampled(4)
def test_a_broken_driver_is_a_replay_failure(
    monkeypatch: pytest.MonkeyPatch, behaviour: str, problem: str
) -> None:
    seen = run(monkeypatch, behaviour)

    assert seen.broken
    assert seen.blocker is not None
    assert seen.blocker.startswith("broke: ")
    assert problem in seen.blocker


@pytest.mark.parametrize(
    "behaviour", ["exits_at_once", "dies_after_its_request", "dies_in_its_call"]
)
def test_the_error_has_the_drivers_last_words(
    monkeypatch: pytest.MonkeyPatch, behaviour: str
) -> None:
    assert str(run(monkeypatch, behaviour).error).endswith(LAST_WORDS)


def test_the_last_words_are_those_of_this_session(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(monkeypatch, "dies_in_its_second_session").error is None
    started = pool.statistics.started

    error = str(run(monkeypatch, "dies_in_its_second_session").error)

    assert pool.statistics.started == started
    assert error.endswith(LAST_WORDS)


def test_a_driver_that_is_never_ready_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "_START_S", 0.01)

    assert "the driver was not ready after 0.01 s" in str(run(monkeypatch, "never_ready").blocker)


def test_a_driver_that_keeps_silent_ends_with_the_runs_deadline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = run(monkeypatch, "silent", deadline_s=0.5)

    assert seen.deadline_passed
    assert seen.blocker == "could not go on by itself: the run passed its deadline of 0.5 s"


def test_a_driver_that_lets_go_of_its_pipes_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_ENDING_S", 0.01)
    monkeypatch.setattr(process, "_GONE_S", 0.01)

    blocker = str(run(monkeypatch, "lets_go_of_its_pipes").blocker)

    assert "the driver closed its pipes and did not end" in blocker
    assert blocker.endswith(LAST_WORDS)


@pytest.mark.parametrize(
    ("behaviour", "problem"),
    [
        (
            "lacks_symbols",
            "version 0.61.0 of the core lacks what is needed of it: LegacyAgentSession, CoreEvent",
        ),
        ("cannot_import", "version 0.61.0 of the core cannot be imported: Unexpected token"),
    ],
)
def test_a_version_that_lacks_something_says_what(
    monkeypatch: pytest.MonkeyPatch, behaviour: str, problem: str
) -> None:
    assert run(monkeypatch, behaviour).blocker == f"broke: {problem}; use another version"


def test_a_driver_that_cannot_be_started_is_a_replay_failure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    drive_with(monkeypatch, [tmp_path / "absent"])
    seen = run_cassette(cassette(), "upstream")

    assert seen.broken
    assert "the driver cannot be started: " in str(seen.blocker)


def test_a_broken_driver_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(monkeypatch, "dies_in_its_call").broken

    assert run(monkeypatch, "works").error is None


def test_messages_are_put_together_wherever_the_pipe_cuts_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = run(monkeypatch, "works")
    pool.close_idle()

    assert run(monkeypatch, "in_bytes").events == whole.events


def test_a_message_may_be_larger_than_the_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = run(monkeypatch, "in_a_long_line")

    assert seen.error is None
    assert len(seen.events[0]["content"][0]["text"]) == 3_000_000


def test_a_line_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runtimes.upstream.connection._LONGEST_LINE", 1 << 20)

    blocker = str(run(monkeypatch, "in_a_long_line").blocker)

    assert "the driver wrote a line of more than 1 MiB" in blocker


@pytest.mark.slow
def test_parity_run_is_inconclusive_and_says_why(tmp_path: Path) -> None:
    package = tmp_path / "cache/upstream/0.61.0/node_modules" / PACKAGE
    package.mkdir(parents=True)
    (package / "package.json").write_text(json.dumps({"version": "0.61.0"}))
    node = tmp_path / "node"
    node.write_text(
        "#!/bin/sh\n"
        '[ "$1" = --version ] && exec echo v20.0.0\n'
        "for last; do :; done\n"
        f"exec '{sys.executable}' '{DRIVER}' dies_after_its_request \"$last\"\n"
    )
    node.chmod(0o755)
    corpus = tmp_path / "corpus"
    (corpus / "a").mkdir(parents=True)
    for name in ("a/1", "a/2"):
        (corpus / f"{name}.yaml").write_text(
            f"cassette: 1\nname: {name}\nsession: {{model: gemini-2.5-flash}}\n"
            "script: [{send: x}]\nmodel: [{text: hi}]\n"
        )

    words = [sys.executable, "-m", "harness.cli", "run", str(corpus)]
    done = subprocess.run(
        [*words, "--candidate", "upstream", "-n", "2", "--trust"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTHONPATH": str(REPOSITORY),
            "PARITY_NODE": str(node),
            "PARITY_CACHE_HOME": str(tmp_path / "cache"),
        },
    )

    assert (done.returncode, done.stderr) == (3, "")
    assert "upstream broke: the driver was killed by SIGKILL; its last words:" in done.stdout
