"""Nothing of a session stays in its process: in any order, each does what it does in a new one."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from harness.cassette.format import Cassette
from harness.cassette.load import load_cassette
from harness.replay.runner import run_cassette
from harness.replay.trace import trace_json
from runtimes.upstream import pool
from tests.runtimes.upstream.stand_ins import REPOSITORY, calls, cassette, needs_core

pytestmark = [needs_core, pytest.mark.usefixtures("nothing_left"), pytest.mark.timeout(300)]

CORPUS = REPOSITORY / "cassettes"
OF_THE_CORPUS = [
    "text/two_turns",
    "text/model_change",
    "tools/parallel_mixed",
    "tools/shell_background_goes_on",
    "tools/mode_changes",
    "errors/pro_429_terminal",
    "abort/in_429_wait",
    "abort/during_shell",
    "invalid_stream/gemini3_nudge",
    "finish/malformed_exhausted",
    "subagent_threads/one_fails",
]
SOME_OF_THE_CORPUS = [
    "text/model_change",
    "tools/mode_changes",
    "abort/in_429_wait",
    "subagent_threads/one_fails",
    "subagent_threads/aborted_asked",
]
EDIT = calls("replace", file_path="a.txt", old_string="absent", new_string="new", instruction="i")
DONE = {"text": "done"}


def corrected(to: str) -> dict[str, Any]:
    """An edit that misses, and the corrector's answer to it."""
    answer = {"search": to, "replace": "new", "noChangesRequired": False, "explanation": "e"}
    return cassette_keys(
        files={"a.txt": "old text\n"},
        session={"settings": {"disableLLMCorrection": False}},
        match="by_role",
        model=[EDIT, {"json": answer, "role": "utility_edit_corrector"}, DONE],
    )


def cassette_keys(session: dict[str, Any] | None = None, **keys: Any) -> dict[str, Any]:
    setup = {"model": "gemini-2.5-flash", "approval_mode": "yolo", **(session or {})}
    return {"session": setup, **keys}


PROBES = {
    # The corrector keeps its answers by the content that they were given for.
    "corrected": corrected("old text"),
    "corrected otherwise": corrected("text"),
    "topic": cassette_keys(
        model=[calls("update_topic", title="T", summary="s", strategic_intent="i"), DONE]
    ),
    "background": cassette_keys(
        model=[
            calls("run_shell_command", command="sleep 86400", is_background=True),
            calls("list_background_processes"),
            DONE,
        ]
    ),
    "no background": cassette_keys(model=[calls("list_background_processes"), DONE]),
    "always": cassette_keys(
        session={"approval_mode": "default", "interactive": True},
        answers={"confirmations": ["proceed_always"]},
        model=[calls("write_file", file_path="a.txt", content="a"), DONE],
    ),
    "never": cassette_keys(
        session={"approval_mode": "default", "interactive": True},
        answers={"confirmations": ["cancel"]},
        model=[calls("write_file", file_path="a.txt", content="a"), DONE],
    ),
    "untrusted": cassette_keys(session={"settings": {"folderTrust": True, "trustedFolder": False}}),
    # What it turns on stays on: such a session's process is not used again.
    "experiments": cassette_keys(session={"settings": {"experiments": {"flags": {}}}}),
    "exhausted": cassette_keys(
        model=[{"error": {"status": 429, "message": "quota", "grpc": "RESOURCE_EXHAUSTED"}}] * 10
    ),
}


def cassettes(names: Iterable[str]) -> dict[str, Cassette]:
    found = {name: load_cassette(Path(CORPUS / f"{name}.yaml"), CORPUS) for name in names}
    return {**found, **{name: cassette(**keys) for name, keys in PROBES.items()}}


def traces(them: Iterable[tuple[str, Cassette]], *, fresh: bool = False) -> dict[str, str]:
    found = {}
    for name, one in them:
        if fresh:
            pool.close_idle()
        found[name] = trace_json(run_cassette(one, "upstream", deadline_s=60))
    return found


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(SOME_OF_THE_CORPUS, id="some"),
        pytest.param(OF_THE_CORPUS, id="more"),
    ],
)
# With each change, used processes are held to the kept baselines: `parity baseline --check`.
@pytest.mark.slow
def test_a_session_does_in_a_used_process_what_it_does_in_a_new_one(names: list[str]) -> None:
    them = list(cassettes(names).items())
    new = traces(them, fresh=True)
    pool.close_idle()
    before = pool.statistics.started, pool.statistics.retired

    in_order = traces(them)
    backwards = traces(reversed(them))

    started = pool.statistics.started - before[0]
    retired = pool.statistics.retired - before[1]
    assert [name for name in new if in_order[name] != new[name]] == []
    assert [name for name in new if backwards[name] != new[name]] == []
    assert 0 < started - retired <= 1
    assert retired <= 4
    # The probes probe something.
    assert new["corrected"] != new["corrected otherwise"]
    assert new["background"] != new["no background"]
    assert new["always"] != new["never"]
