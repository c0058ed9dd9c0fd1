"""Long outputs of tools: previews, extracts, and the histories that lose them."""

from __future__ import annotations

import asyncio
import json
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from parity_tests.core_answers.brief import brief
from parity_tests.core_answers.subject import Subject
from services.abort import AbortError
from services.clock import VIRTUAL_EPOCH_MS, VirtualClock, virtual_loop
from services.history.transforms import coalesce, strip_thoughts
from services.ids import CountingIds
from services.masking_previews import shell_preview
from services.model.utility import UtilityRequest
from services.output_masking import ToolOutputMaskingService
from services.settings import Settings
from services.tool_distillation import ToolDistillation, truncate_proportionally
from services.wire import Content, JsonObject

__all__ = ["SUBJECTS"]

_PATH_LENGTH: Final = 100
"""The files' folder has as long a name in both halves: names of files count as tokens."""
_SHOWN: Final = 60
_SESSION: Final = "5e55/1011"


def _cut(asked: tuple[str, int]) -> str:
    return truncate_proportionally(*asked)


def _whole(value: Any) -> Any:
    """The value with every `{"repeat": …, "times": …}` as the text that it stands for."""
    if isinstance(value, list):
        return [_whole(each) for each in value]
    if not isinstance(value, dict):
        return value
    if "repeat" in value:
        return value["repeat"] * value["times"] + value.get("end", "")
    return {key: _whole(each) for key, each in value.items()}


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="parity-outputs-") as name:
        yield Path(name) / ("p" * (_PATH_LENGTH - len(name) - 1))


def _plain(answer: JsonObject, folder: Path) -> Any:
    files = {
        (_unnumbered(str(file.relative_to(folder))), file.read_bytes().decode())
        for file in folder.rglob("*")
        if file.is_file()
    }
    answer["files"] = sorted(map(list, files))
    text = json.dumps(answer).replace(str(folder), "<TMP>")
    return brief(json.loads(_unnumbered(text)), _SHOWN)


def _unnumbered(text: str) -> str:
    return re.sub(r"(?:_1[0-9]{12})?_[0-9a-z]{6}\.txt", "_N.txt", text)


def _masked(asked: JsonObject) -> Any:
    coalesced: bool = asked["coalesced"]
    settings: JsonObject = asked["settings"]
    with _folder() as folder:
        session: Any = SimpleNamespace(
            settings=Settings(
                masking_protection_tokens=settings["protect"],
                masking_min_prunable_tokens=settings["least"],
                masking_protect_latest_turn=settings["latest"],
            ),
            workspace=SimpleNamespace(project_temp=folder),
            state=SimpleNamespace(session_id=_SESSION, log=lambda *_: None),
            ids=CountingIds(),
            clock=VirtualClock(VIRTUAL_EPOCH_MS),
        )
        always, only_due = ToolOutputMaskingService(session), ToolOutputMaskingService(session)
        live: list[Content] = []
        shown: list[Content] = []
        counts: list[int] = []
        for gone, more in asked["steps"]:
            del live[len(live) - gone :]
            live.extend(_whole(more))
            shown = coalesce(strip_thoughts(live)) if coalesced else list(live)
            first = always.mask(shown)
            due = only_due.due(live, coalesced=coalesced)
            again = only_due.mask(shown, live=live) if due else None
            history = again.history if again is not None else shown
            assert _unnumbered(json.dumps(history)) == _unnumbered(json.dumps(first.history))
            counts.append(first.masked_count)
            shown = list(history)
            if first.masked_count:
                live = shown
        return _plain({"history": shown, "counts": counts}, folder)


class _Model:
    """Answers with what the input has: a response, a text for an error, nothing until the end."""

    def __init__(self, answer: JsonObject | str | None) -> None:
        self._answer = answer
        self.asked: list[str] = []

    async def generate_content(self, request: UtilityRequest) -> JsonObject:
        self.asked += [request.config_key, request.contents[0]["parts"][0]["text"], request.role]
        if self._answer is None:
            await request.signal.wait()
            raise AbortError
        if isinstance(self._answer, str):
            raise RuntimeError(self._answer)
        return self._answer

    async def generate_json(self, request: UtilityRequest, schema: JsonObject) -> JsonObject:
        raise NotImplementedError


def _distilled(asked: JsonObject) -> Any:
    with _folder() as folder:
        clock = VirtualClock(VIRTUAL_EPOCH_MS)
        session: Any = SimpleNamespace(
            settings=Settings(
                distillation_max_output_tokens=asked["most"],
                distillation_summary_threshold_tokens=asked["summed_up_from"],
            ),
            workspace=SimpleNamespace(project_temp=folder),
            state=SimpleNamespace(prompt_id=asked["prompt_id"], last_prompt_id="last"),
            clock=clock,
        )
        model = _Model(asked["answer"])
        service = ToolDistillation(session, model, lambda: "be brief")

        async def distilled() -> JsonObject:
            short = await service.distill(asked["tool"], asked["call"], _whole(asked["content"]))
            return {
                "content": short.content,
                "file": str(short.file) if short.file else None,
                "asked": model.asked,
                "waited": clock.now_ms() - VIRTUAL_EPOCH_MS,
            }

        with asyncio.Runner(loop_factory=virtual_loop) as runner:
            return _plain(runner.run(distilled()), folder)


SUBJECTS: Final = (
    Subject("long_outputs.shell_preview", shell_preview),
    Subject("long_outputs.cut", _cut),
    Subject("long_outputs.masked", _masked),
    Subject("long_outputs.distilled", _distilled),
)
