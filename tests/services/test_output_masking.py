from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from services.history.transforms import coalesce, strip_thoughts
from services.output_masking import ToolOutputMaskingService
from services.settings import Settings
from services.wire import Content, Part
from services.workspace import Workspace
from tests.services.sessions import session_at

SMALL = Settings(masking_protection_tokens=300, masking_min_prunable_tokens=200)


def service(tmp_path: Path, settings: Settings = SMALL) -> ToolOutputMaskingService:
    workspace = Workspace.at(tmp_path / "ws", tmp_path / "home")
    return ToolOutputMaskingService(session_at(workspace, settings, session_id="11111111-2222"))


def answer(call_id: str, size: int, name: str = "read_file") -> Content:
    """A response of `size` tokens, its name and its wrapping left out."""
    return {
        "role": "user",
        "parts": [
            {
                "functionResponse": {
                    "id": call_id,
                    "name": name,
                    "response": {"output": "x" * (4 * size)},
                }
            }
        ],
    }


def call(name: str = "read_file") -> Content:
    return {"role": "model", "parts": [{"functionCall": {"name": name, "args": {}}}]}


def output_of(content: Content) -> str:
    text: str = content["parts"][0]["functionResponse"]["response"]["output"]
    return text


def outputs(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "home").glob(".gemini/tmp/ws/tool-outputs/*/*"))


@pytest.mark.contract("P-096")
def test_the_response_that_crosses_the_protection_and_all_older_ones_are_masked(
    tmp_path: Path,
) -> None:
    history = [answer("c1", 250), call(), answer("c2", 250), call(), answer("c3", 250), call()]

    result = service(tmp_path).mask(history)

    assert [change.call_id for change in result.changes] == ["c2", "c1"]
    assert [output_of(result.history[i])[:21] for i in (0, 2)] == ["<tool_output_masked>\n"] * 2
    assert result.history[4] is history[4]
    assert output_of(history[0]).startswith("xxx")


@pytest.mark.parametrize(("size", "masked"), [(595, 0), (596, 1)])
def test_outputs_of_exactly_the_protected_size_are_protected(
    tmp_path: Path, size: int, masked: int
) -> None:
    # Name and wrapping are five tokens and a half.
    settings = Settings(masking_protection_tokens=600, masking_min_prunable_tokens=1)
    history = [answer("c", size), call()]

    assert service(tmp_path, settings).due(history) is bool(masked)
    assert service(tmp_path, settings).mask(history).masked_count == masked


def test_the_whole_response_is_in_the_file_that_the_preview_names(tmp_path: Path) -> None:
    asked = answer("Read/1", 600)
    masked = service(tmp_path).mask([asked, call()])

    [file] = outputs(tmp_path)
    folder, name = file.parts[-2:]
    assert folder == "session-11111111-2222"
    assert re.fullmatch(r"read_file_read_1_[0-9a-z]{6}\.txt", name)
    assert json.loads(file.read_text()) == {"output": "x" * 2400}
    head, tail = '{\n  "output": "' + "x" * 235, "x" * 247 + '"\n}'
    assert output_of(masked.history[0]) == (
        f"<tool_output_masked>\n{head}\n... [TRUNCATED] ...\n{tail}\n\n"
        f"Output too large. Full output available at: {file}\n</tool_output_masked>"
    )
    [change] = masked.changes
    assert (change.call_id, change.file) == ("Read/1", file)
    assert change.part is masked.history[0]["parts"][0]


def test_a_shell_report_has_a_preview_of_its_own(tmp_path: Path) -> None:
    history = [answer("c", 1, "run_shell_command"), call()]
    report = "Output: " + "\n".join("line" for _ in range(600)) + "\nExit Code: 1"
    history[0]["parts"][0]["functionResponse"]["response"] = {"output": report}

    [change] = service(tmp_path).mask(history).changes

    assert "[580 lines omitted]" in change.response["output"]
    assert "Exit Code: 1\n\nOutput too large." in change.response["output"]


@pytest.mark.contract("P-098")
def test_parts_beside_a_response_stay(tmp_path: Path) -> None:
    content = answer("c", 600)
    content["parts"][0]["thoughtSignature"] = "s"
    content["parts"][0]["functionResponse"]["parts"] = [{"inlineData": {"mimeType": "image/png"}}]
    content["parts"].append({"text": "beside"})

    masked = service(tmp_path).mask([content, call()]).history[0]["parts"]

    assert masked[0]["thoughtSignature"] == "s"
    assert masked[0]["functionResponse"]["parts"] == [{"inlineData": {"mimeType": "image/png"}}]
    assert masked[1] is content["parts"][1]


@pytest.mark.parametrize(
    "name", ["activate_skill", "ask_user", "enter_plan_mode", "exit_plan_mode"]
)
def test_some_tools_are_never_masked(tmp_path: Path, name: str) -> None:
    history = [answer("c", 5000, name), call()]

    assert not service(tmp_path).due(history)
    assert service(tmp_path).mask(history).history is history


@pytest.mark.parametrize("response", [None, "", {"output": "<tool_output_masked>" + "x" * 9000}])
def test_empty_and_masked_responses_stay(tmp_path: Path, response: Any) -> None:
    history = [answer("c", 1), call()]
    history[0]["parts"][0]["functionResponse"]["response"] = response

    assert not service(tmp_path).due(history)
    assert service(tmp_path).mask(history).masked_count == 0


def test_masking_twice_masks_once(tmp_path: Path) -> None:
    masking = service(tmp_path)
    once = masking.mask([answer("a", 600), call(), answer("b", 600), call()])

    assert once.masked_count == 2
    assert not masking.due(once.history)
    assert masking.mask(once.history).history is once.history


def test_the_latest_turn_is_safe_only_while_the_setting_says_so(tmp_path: Path) -> None:
    history = [call(), answer("c", 900)]

    assert service(tmp_path).mask(history).masked_count == 0
    open_to_all = replace(SMALL, masking_protect_latest_turn=False)
    assert service(tmp_path, open_to_all).mask(history).masked_count == 1


def test_the_defaults_are_upstreams() -> None:
    settings = Settings()

    assert settings.masking_protection_tokens == 50_000
    assert settings.masking_min_prunable_tokens == 30_000
    assert settings.masking_protect_latest_turn


def test_a_response_that_a_preview_would_not_shorten_is_written_once(tmp_path: Path) -> None:
    masking = service(
        tmp_path, replace(SMALL, masking_protection_tokens=10, masking_min_prunable_tokens=40)
    )
    history = [*(answer(str(i), 20) for i in range(4)), call()]

    assert masking.due(history)
    assert masking.mask(history).masked_count == 0
    assert masking.mask(history).masked_count == 0
    assert not masking.due(history)
    assert len(outputs(tmp_path)) == 4


def test_an_output_that_cannot_be_kept_stays(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("in the way")
    history = [answer("c", 600), call()]

    assert service(tmp_path).mask(history).history is history


def random_history(rng: random.Random) -> list[Content]:
    history: list[Content] = []
    for turn in range(rng.randrange(1, 12)):
        parts: list[Part] = []
        for number in range(rng.randrange(0, 3)):
            kind = rng.randrange(4)
            if kind == 0:
                parts.append({"text": "t", "thought": rng.random() < 0.6})
            else:
                name = rng.choice(["read_file", "ask_user", "run_shell_command"])
                size = rng.choice([5, 100, 260, 700])
                parts += answer(f"{turn}-{number}", size, name)["parts"]
        history.append({"role": rng.choice(["user", "model"]), "parts": parts})
    return history


@pytest.mark.parametrize("coalesced", [True, False])
def test_due_says_of_every_history_what_masking_finds(tmp_path: Path, coalesced: bool) -> None:
    rng = random.Random(5)
    found = 0
    for _ in range(150):
        settings = Settings(
            masking_protection_tokens=rng.choice([0, 300, 800]),
            masking_min_prunable_tokens=rng.choice([1, 100, 600]),
            masking_protect_latest_turn=rng.random() < 0.5,
        )
        masking = service(tmp_path, settings)
        live: list[Content] = []
        for content in random_history(rng):
            live.append(content)
            if rng.random() < 0.2:
                del live[rng.randrange(len(live)) :]
            shown = coalesce(strip_thoughts(live)) if coalesced else list(live)
            fresh = service(tmp_path, settings)
            enough = bool(fresh.mask(shown).prunable_tokens >= settings.masking_min_prunable_tokens)
            assert masking.due(live, coalesced=coalesced) is enough
            found += enough
    assert found > 50


@pytest.mark.parametrize("coalesced", [True, False])
def test_asking_first_changes_nothing_of_what_is_masked(tmp_path: Path, coalesced: bool) -> None:
    rng = random.Random(7)
    changed = 0
    for number in range(100):
        settings = Settings(
            masking_protection_tokens=rng.choice([0, 300, 800]),
            masking_min_prunable_tokens=rng.choice([1, 100]),
            masking_protect_latest_turn=rng.random() < 0.5,
        )
        masking = service(tmp_path / f"one{number}", settings)
        fresh = service(tmp_path / f"one{number}", settings)
        live: list[Content] = []
        for content in random_history(rng):
            live.append(content)
            shown = coalesce(strip_thoughts(live)) if coalesced else list(live)
            if not masking.due(live, coalesced=coalesced):
                continue
            found = masking.mask(shown, live=live)
            other = fresh.mask(shown)
            assert (found.masked_count, found.prunable_tokens) == (
                other.masked_count,
                other.prunable_tokens,
            )
            assert without_files(found.history) == without_files(other.history)
            live = list(found.history)
            changed += found.masked_count
    assert changed > 25


def without_files(history: Sequence[Content]) -> str:
    return re.sub(r"available at: .*?\\n", "", json.dumps(history))


class Counted(dict[str, Any]):
    """A response that counts how often it is looked into."""

    reads = 0

    def items(self) -> Any:
        Counted.reads += 1
        return super().items()


def test_asking_reads_what_is_new(tmp_path: Path) -> None:
    masking = service(tmp_path, Settings())
    history: list[Content] = []
    reads = []
    for turn in range(40):
        content = answer(str(turn), 10)
        content["parts"][0]["functionResponse"]["response"] = Counted(output="x" * 40)
        history += [content, call()]
        before = Counted.reads
        masking.due(history)
        reads.append(Counted.reads - before)

    assert max(reads) == reads[0] > 0
