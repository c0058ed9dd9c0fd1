"""A chat recording: what calls of the session write into its file."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, cast

from parity_tests.core_answers.subject import Subject
from services.chat_recording import ChatRecording
from services.clock import VirtualClock
from services.recording.records import ConversationRecord, ResumedSession
from services.scheduler.calls import CompletedToolCall
from services.session import Session
from services.tools.contract import Tool
from services.workspace import Workspace

__all__ = ["SUBJECTS"]

_BEGIN_MS: Final = 1_700_000_000_000
_UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")


class _Ids:
    def __init__(self) -> None:
        self._made = 0

    def uuid(self, kind: str) -> str:
        self._made += 1
        return f"00000000-0000-4000-8000-{self._made:012}" if kind == "message" else "no message"


class _Scene:
    """One recording in a temporary folder."""

    def __init__(self, asked: Any, root: Path) -> None:
        self._root = root
        self._tools = asked["tools"]
        (root / "w").mkdir()
        self._clock = VirtualClock(_BEGIN_MS)
        session = SimpleNamespace(
            workspace=Workspace.at(root / "w", root / "home"),
            state=SimpleNamespace(session_id="main-session"),
            clock=self._clock,
            ids=_Ids(),
            events=SimpleNamespace(emit=lambda event: None),
        )
        self._recording = ChatRecording(
            cast("Session", session), find_tool=self._tool, session_id=asked["id"]
        )

    def _tool(self, name: str) -> Tool | None:
        known = self._tools.get(name)
        return known and cast("Tool", SimpleNamespace(**known))

    def play(self, step: str, *given: Any) -> Any:
        """What a step returns."""
        recording = self._recording
        if step == "message":
            kind, content, display, model, known = given
            return recording.record_message(
                type=kind,
                content=content,
                display_content=display,
                model=model,
                message_id=known,
            )
        if step == "rewind":
            left = recording.rewind_to(given[0])
            return None if left is None else len(left)
        if step == "content":
            return recording.record_content(given[0])[0]
        steps: dict[str, Callable[..., Any]] = {
            "pass": self._clock.advance,
            "init": self._init,
            "resume": self._resume,
            "synthetic": recording.record_synthetic_message,
            "thought": recording.record_thought,
            "tokens": recording.record_tokens,
            "calls": lambda model, calls: recording.record_tool_calls(model, map(_call, calls)),
            "update": lambda turns: recording.update_messages_from_history(list(map(tuple, turns))),
            "summary": recording.save_summary,
            "folders": lambda listed: recording.record_directories(map(Path, listed)),
        }
        return steps[step](*given)

    def _init(self, kind: str, parent: str | None) -> None:
        folders = [str(self._root / "w")] if kind == "subagent" else None
        self._recording.initialize(kind, parent_session_id=parent, directories=folders)

    def _resume(self, name: str, text: str | None, record: dict[str, Any]) -> None:
        file = self._root / "home" / name
        if text is not None:
            file.parent.mkdir(parents=True)
            file.write_text(text, "utf-8")
        fields = {key: value for key, value in record.items() if key != "messages"}
        conversation = ConversationRecord(fields, record["messages"])
        self._recording.initialize(resumed=ResumedSession(conversation, file))

    def answer(self) -> list[Any]:
        """The files, and the messages as they stand, in short."""
        files = sorted(each for each in (self._root / "home").rglob("*") if each.is_file())
        written = [
            [str(file.relative_to(self._root)), _lines(file.read_text("utf-8"))] for file in files
        ]
        path = self._recording.path
        return [written, path and str(path), path and list(map(_about, self._recording.messages))]


def _about(message: dict[str, Any]) -> list[Any]:
    return [message["id"], message["type"], len(message.get("toolCalls") or ()), *sorted(message)]


def _lines(text: str) -> list[Any]:
    try:
        return [json.loads(line) for line in text.split("\n") if line]
    except ValueError:
        return [text]


def _call(asked: dict[str, Any]) -> CompletedToolCall:
    says = asked.get("says")
    made = SimpleNamespace(
        request=SimpleNamespace(
            call_id=asked["id"],
            shown_name=asked.get("original") or asked["name"],
            original_request_args=asked.get("original_args"),
            args=asked["args"],
        ),
        response=SimpleNamespace(
            response_parts=asked["parts"],
            data=asked.get("data"),
            result_display=asked.get("display"),
        ),
        status=asked["status"],
        invocation=None if says is None else SimpleNamespace(description=lambda: says),
    )
    return cast("CompletedToolCall", made)


def _play(asked: Any) -> Any:
    with tempfile.TemporaryDirectory(prefix="recorded-") as folder:
        root = Path(folder).resolve()
        scene = _Scene(asked, root)
        answers = [scene.play(*step) for step in asked["steps"]]
        text = json.dumps([answers, scene.answer()], sort_keys=True)
        found = dict.fromkeys(_UUID.findall(text))
        for number, each in enumerate(found):
            text = text.replace(each, f"id {number}")
        hashed = Workspace.at(root / "w", root / "home").project_hash
        return json.loads(text.replace(hashed, "hash").replace(str(root), "@"))


SUBJECTS: Final = (Subject("recorded.play", _play), Subject("recorded.resumed", _play))
