"""A tool call in words: its line, and what it shows below."""

from __future__ import annotations

import json
import os.path
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any, Final

from rich.text import Text

from agent_protocol.events import DiffDisplay, TerminalDisplay, TextDisplay, ToolDisplay
from services.presentation.display import display_to_text
from services.progress import AgentActivity
from services.wire import Json
from surfaces.terminal.ansi_display import ansi_lines
from surfaces.terminal.inert import inert, inert_line

__all__ = ["ICONS", "CallShown", "diff_lines", "diff_words", "edit_counts", "todo_lines"]

ICONS: Final[Mapping[str, str]] = {
    "validating": "o",
    "scheduled": "o",
    "awaiting_approval": "?",
    "executing": "⊶",
    "success": "✓",
    "error": "x",
    "cancelled": "-",
}
EDITS: Final = frozenset({"write_file", "replace"})
_QUIET: Final = frozenset({"read_file", "read_many_files", "list_directory", "glob", "grep_search"})
"""Tools whose result stays out of sight: their line has a summary."""
_CONTEXT: Final = 3
_MOST_LETTERS: Final = 4_000
"""Of a line of output: a longer one is cut."""
_STATES: Final[Mapping[str, str]] = {
    "validating": "Tool call",
    "scheduled": "Tool call",
    "executing": "Tool call, running",
    "success": "Tool call, done",
    "error": "Tool call, failed",
    "cancelled": "Tool call, cancelled",
}
_BOLD: Final = re.compile(r"\*\*(.+?)\*\*")
_TODO_MARKS: Final[Mapping[str, str]] = {
    "completed": "✓",
    "in_progress": "»",
    "pending": "☐",
    "cancelled": "✗",
    "blocked": "⛔",
}


@dataclass(slots=True, kw_only=True)
class CallShown:
    """What the screen knows of one call; `root` is the folder that paths are relative to."""

    name: str
    root: str
    display: ToolDisplay | None = None
    status: str = "scheduled"
    output: Json = ""
    """The live output: text, or the lines of a terminal's screen."""
    change: DiffDisplay | None = None
    """The change that the user was asked about."""
    activity: AgentActivity | None = None
    """What the subagent does that the call runs."""

    @property
    def settled(self) -> bool:
        """Whether the call has ended."""
        return self.status in ("success", "error", "cancelled")

    @property
    def boxed(self) -> bool:
        """Whether the call has a frame; files are read and changed without one."""
        return self.name not in EDITS and self.name not in _QUIET

    @property
    def hidden(self) -> bool:
        """Whether nothing is shown: a question is, or no tool has that name."""
        return self.display is None or self.status == "awaiting_approval"

    def line(self) -> Text:
        """The state, the tool and what it works on."""
        icon = ICONS.get(self.status, "o")
        words = [icon, f" {self._title}"]
        described = inert_line(self._described())
        if described:
            words.append(described)
        summary = self._summary()
        if summary:
            words.append(f"→ {summary}")
        line = Text(" ".join(words), no_wrap=False, overflow="fold")
        style = {"success": "green", "error": "red", "executing": "yellow"}.get(self.status, "dim")
        line.stylize(style, 0, 1)
        line.stylize("bold", 3, 3 + len(self._title))
        return line

    def body(self, most_lines: int) -> Text:
        """What stands below the line: the last `most_lines` lines."""
        change = self._change()
        if change is not None:
            return _last(list(diff_lines(change)), most_lines)
        if self.name in _QUIET and self.status != "error":
            return Text("")
        shown = self._shown()
        screen = ansi_lines(shown)
        if screen is not None:
            return _last(screen, most_lines)
        text = shown if isinstance(shown, str) else ""
        todos = todo_lines(text)
        return _last(todos, most_lines) if todos is not None else _last_of(text, most_lines)

    def words(self, most_lines: int) -> str:
        """The call for a screen reader: the state as a word, and no signs for a change."""
        change = self._change()
        body = self.body(most_lines).plain if change is None else "\n".join(diff_words(change))
        line = self.line().plain.partition(" ")[2].strip()
        return f"{_STATES.get(self.status, self.status)}: {line}\n{body}".rstrip()

    @property
    def _title(self) -> str:
        return inert_line((self.display and self.display.name) or self.name)

    def _described(self) -> str:
        change = self._change()
        if self.name in EDITS and change is not None and change.path:
            return os.path.relpath(change.path, self.root)
        described = (self.display and self.display.description) or ""
        return described.removeprefix("Writing to ") if self.name == "write_file" else described

    def _summary(self) -> str:
        change = self._change()
        if self.name in EDITS and change is not None and self.settled:
            added, removed = edit_counts(change)
            verdict = {"success": "Accepted", "cancelled": "Rejected"}.get(self.status, "Failed")
            return f"{verdict} (+{added}, -{removed})"
        if self.name in _QUIET and self.status == "success" and self.name != "read_file":
            return inert_line((self.display and self.display.result_summary) or "")
        return ""

    def _change(self) -> DiffDisplay | None:
        result = self.display.result if self.display else None
        return result if isinstance(result, DiffDisplay) else self.change

    def _shown(self) -> Json:
        """What the call shows: its result once it has ended, its live output until then."""
        result = self.display.result if self.display else None
        if not self.settled:
            return self.output
        if isinstance(result, TerminalDisplay):
            return self.output if result.ansi is None else result.ansi
        return (display_to_text(result) or "") if isinstance(result, TextDisplay) else ""


def edit_counts(change: DiffDisplay) -> tuple[int, int]:
    """How many lines a change adds and removes."""
    before, after = _lines(change.before_text), _lines(change.after_text)
    added = removed = 0
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            removed, added = removed + i2 - i1, added + j2 - j1
    return added, removed


def diff_lines(change: DiffDisplay) -> Iterator[Text]:
    """A change as numbered lines: of a new file its lines, of another those that differ."""
    before, after = _lines(change.before_text), _lines(change.after_text)
    if not before:
        for number, line in enumerate(after, 1):
            yield Text(f"{number} {inert(line)}")
        return
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for place, group in enumerate(matcher.get_grouped_opcodes(_CONTEXT)):
        if place:
            yield Text("═" * 8, style="dim")
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                for number in range(j1, j2):
                    yield Text(f"{number + 1}   {inert(after[number])}", style="dim")
                continue
            for number in range(i1, i2):
                yield Text(f"{number + 1} - {inert(before[number])}", style="red")
            for number in range(j1, j2):
                yield Text(f"{number + 1} + {inert(after[number])}", style="green")


def diff_words(change: DiffDisplay) -> Iterator[str]:
    """A change as lines that a screen reader can read.

    Source: `packages/cli` `ui/components/messages/DiffRenderer.tsx` (`screenReaderEnabled`).
    """
    before, after = _lines(change.before_text), _lines(change.after_text)
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                yield from (f"context: {inert(line)}" for line in before[i1:i2])
                continue
            yield from (f"del: {inert(line)}" for line in before[i1:i2])
            yield from (f"add: {inert(line)}" for line in after[j1:j2])


def todo_lines(text: str) -> list[Text] | None:
    """A todo list, if `text` is one as tools show it."""
    if not text.startswith('{"todos":'):
        return None
    try:
        found: Any = json.loads(text)
    except ValueError:
        return None
    todos = found.get("todos")
    if not isinstance(todos, list) or not all(isinstance(todo, dict) for todo in todos):
        return None
    done = sum(todo.get("status") == "completed" for todo in todos)
    lines = [Text(f"Todo {done}/{len(todos)} completed", style="bold")]
    for todo in todos:
        mark = _TODO_MARKS.get(str(todo.get("status")), "☐")
        lines.append(Text(f"{mark} {inert_line(str(todo.get('description')))}"))
    return lines


def _lines(text: str) -> list[str]:
    return text.splitlines()


def _with_bold(line: str) -> Text:
    text, end = Text(), 0
    for found in _BOLD.finditer(line):
        text.append(line[end : found.start()])
        text.append(found[1], style="bold")
        end = found.end()
    return text.append(line[end:])


def _last_of(text: str, most: int) -> Text:
    """The last lines of a text, which may be long: the others are only counted."""
    text = text.rstrip()
    start = len(text)
    for _ in range(most):
        start = text.rfind("\n", 0, start)
        if start < 0:
            break
    hidden = text.count("\n", 0, start + 1)
    lines = inert(text[start + 1 :]).split("\n")
    return _last([_with_bold(_cut(line)) for line in lines], most, hidden)


def _cut(line: str) -> str:
    return line if len(line) <= _MOST_LETTERS else f"{line[:_MOST_LETTERS]}…"


def _last(lines: Sequence[Text], most: int, hidden: int = 0) -> Text:
    """The last of `lines`; so many more are already `hidden`."""
    lines = list(lines)
    while lines and not lines[-1].plain.strip():
        lines.pop()
    hidden += max(0, len(lines) - most)
    if hidden > 0:
        note = Text(f"... first {hidden} lines hidden (Ctrl+O to show) ...", style="dim")
        lines = [note, *lines[-most:]]
    return Text("\n").join(lines)
