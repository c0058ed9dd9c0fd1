"""The process that judges, as the session sees it: its end, an interrupt, and what it cannot do."""

import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from parity_entry.serving import JudgeFailed, Serving
from tests.processes import ends

REPOSITORY = Path(__file__).parents[2]
OPTIONS = ("control", "candidate", "phase", "repeat", "limits", "waivers", "as_of", "journal")
SLEEPS = """
cassette: 1
name: own/sleeps
session: {model: gemini-2.5-flash, approval_mode: yolo}
script: [{send: x}]
model:
- stream:
  - candidates:
    - content:
        role: model
        parts:
        - functionCall: {name: run_shell_command, args: {command: "echo $$ > PIPE; sleep 170"}}
      finishReason: STOP
- text: fine
"""


@pytest.fixture
def serving() -> Iterator[Serving]:
    made = Serving()
    texts = dict.fromkeys(OPTIONS, "")
    try:
        made.ask("plan", texts=texts, paths=[], trust=True, sys_path=[str(REPOSITORY)])
        yield made
    finally:
        made.close()


def good_case() -> dict[str, str]:
    root, name = REPOSITORY / "cassettes", "text/blank_answer"
    return {"path": f"{root}/{name}.yaml", "root": str(root), "name": name}


def test_an_interrupted_case_ends_with_its_processes_and_the_next_is_judged(
    serving: Serving, tmp_path: Path
) -> None:
    pipe, file = tmp_path / "pipe", tmp_path / "own" / "sleeps.yaml"
    file.parent.mkdir()
    pipe.touch()
    file.write_text(SLEEPS.replace("PIPE", str(pipe)))
    begun: list[str] = []

    def interrupt() -> None:
        while not pipe.read_text().endswith("\n"):
            threading.Event().wait(0.05)
        begun.append(pipe.read_text().strip())
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    case = {"path": str(file), "root": str(tmp_path), "name": "own/sleeps"}
    with pytest.raises(KeyboardInterrupt):
        serving.ask("judge", case=case)

    assert serving.ask("judge", case=good_case())["result"]["verdict"] == "parity"
    assert ends(begun[0])


def test_a_process_that_is_gone_is_reported_with_its_last_words(serving: Serving) -> None:
    serving._child.kill()

    with pytest.raises(JudgeFailed, match="has ended with exit code -9; try again"):
        serving.ask("judge", case=good_case())


def test_what_the_process_cannot_answer_it_says_and_goes_on_until_it_is_closed(
    serving: Serving,
) -> None:
    with pytest.raises(JudgeFailed, match=r"gone\.yaml: does not exist; check the path"):
        serving.ask("find", path="gone.yaml")
    with pytest.raises(JudgeFailed, match="KeyError: 'nonsense'"):
        serving.ask("nonsense")

    assert serving.ask("judge", case=good_case())["says"] is None

    serving.close()
    serving.close()

    assert serving._child.returncode == 0
