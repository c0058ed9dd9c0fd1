"""The lines around the input: activity, mode, and the footer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text
from textual.reactive import reactive
from textual.widgets import Static

from services.model.limits import token_limit
from services.state import ApprovalMode
from surfaces.terminal.inert import inert_line

if TYPE_CHECKING:
    from surfaces.terminal.live import LiveSession

__all__ = ["ActivityLine", "Footer", "ModeLine", "Status"]

_MODES: Final = {
    ApprovalMode.DEFAULT: ("", "Shift+Tab to accept edits"),
    ApprovalMode.AUTO_EDIT: ("auto-accept edits", "Shift+Tab to plan"),
    ApprovalMode.PLAN: ("plan", "Shift+Tab to manual"),
    ApprovalMode.YOLO: ("YOLO", "Ctrl+Y"),
}
_SHORTCUTS: Final = "? for shortcuts"
_GAP: Final = "  "
_WIDE: Final = 80
_LEAST_FOLDER: Final = 8
_ORDER: Final = ("sandbox", "model", "context", "quota")
_BY_NEED: Final = ("model", "quota", "context", "sandbox")
_FRAMES: Final = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_TICK_S: Final = 0.25


def _both_ends(left: Text, right: Text) -> Table:
    line = Table.grid(expand=True)
    line.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
    line.add_column(justify="right", no_wrap=True)
    line.add_row(left, right)
    return line


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What the lines around the input say about a session."""

    mode: ApprovalMode
    model: str
    left_percent: int | None = None
    """How much of the model's context is left; `None`: nothing was sent yet."""
    limit_reached: bool = False
    """Whether the quota of the model is used up."""
    known: Sequence[str] = ()
    """What the model knows beside the conversation: open files, memory files."""

    @classmethod
    def of(cls, session: LiveSession) -> Status:
        """The status of an open session."""
        state, health = session.services.state, session.services.availability.health
        left = None
        if state.last_prompt_tokens:
            used = state.last_prompt_tokens / token_limit(state.active_model)
            left = max(0, round((1 - used) * 100))
        return cls(
            mode=state.approval_mode,
            model=state.active_model,
            left_percent=left,
            limit_reached=health.snapshot(state.active_model).reason == "quota",
            known=tuple(_known_beside(session)),
        )


def _known_beside(session: LiveSession) -> Iterator[str]:
    """Yield what the model knows beside the conversation.

    Source: `packages/cli` `ui/components/ContextSummaryDisplay.tsx`.
    """
    editor = session.services.ide.context.present
    counts = (
        (len(editor.files) if editor else 0, "open file", " (F4 to view)"),
        (session.services.prompts.memory_files, "GEMINI.md file", ""),
    )
    for count, what, more in counts:
        if count:
            yield f"{count} {what}{'s' * (count > 1)}{more}"


class ActivityLine(Static):
    """What the agent does at the moment; nothing moves while it is idle."""

    activity: reactive[str | None] = reactive(None)
    hint: reactive[str] = reactive("")
    """What a key would do that is pressed again."""

    def __init__(self) -> None:
        super().__init__(markup=False)
        self._ticks = 0
        self.covered = False
        """Whether a dialog covers the line: then it must not redraw the screen."""

    def on_mount(self) -> None:
        """Prepare the animation."""
        self._timer = self.set_interval(_TICK_S, self._tick, pause=True)
        self._show()

    def watch_activity(self, before: str | None, now: str | None) -> None:
        """Begin or end the animation."""
        if not self.is_mounted:
            return
        if before is None and now is not None:
            self._ticks = 0
            self._timer.resume()
        elif now is None:
            self._timer.pause()
        self._show()

    def watch_hint(self) -> None:
        """Show the hint."""
        if self.is_mounted:
            self._show()

    def _tick(self) -> None:
        self._ticks += 1
        if not self.covered:
            self._show()

    def _show(self) -> None:
        left = f" {self.hint}"
        if self.activity is not None and not self.hint:
            frame = _FRAMES[self._ticks % len(_FRAMES)]
            seconds = int(self._ticks * _TICK_S)
            left = f" {frame} {inert_line(self.activity)} (esc to cancel, {seconds}s)"
        fits = cell_len(left) + len(_SHORTCUTS) < (self.size.width or _WIDE)
        right = Text(_SHORTCUTS if fits else "", style="dim")
        self.update(_both_ends(Text(left), right))


class ModeLine(Static):
    """The approval mode, and what the model knows beside the conversation."""

    words = ""
    """The line for a screen reader."""

    def show(self, status: Status, *, shell: bool = False) -> None:
        """Show the mode, and what is known."""
        name, key = ("shell mode enabled", "esc to disable") if shell else _MODES[status.mode]
        self.words = ", ".join([name or "default mode", key, *status.known])
        left = Text(" ").append(name, style="bold").append(" " if name else "").append(key, "dim")
        self.update(_both_ends(left, Text(f"{' · '.join(status.known)} ", style="dim")))


class Footer(Static):
    """Vim's mode, the folder, the sandbox, and the model with its context and its quota.

    Where not everything has room, the folder is shortened first, and then the fields that the user
    needs least are left out.

    Source: `packages/cli` `ui/components/Footer.tsx`, `config/footerItems.ts`.
    """

    def __init__(self, settings: Mapping[str, object]) -> None:
        """Show what `settings`, the document's `ui.footer`, do not hide."""
        super().__init__(markup=False)
        self._settings = settings
        self._folder = ""
        self._sandbox = ""
        self._vim_mode: str | None = None
        self._status: Status | None = None

    def show(self, folder: str, sandbox: str, status: Status, vim_mode: str | None = None) -> None:
        """Show these values; without `vim_mode` the input has no Vim keys."""
        self._folder, self._sandbox, self._status = folder, sandbox, status
        self._vim_mode = vim_mode
        self.refresh()

    @property
    def words(self) -> str:
        """The line for a screen reader: without what changes with every answer."""
        status = self._status
        if status is None:
            return ""
        fields = [inert_line(self._folder), self._sandbox, inert_line(status.model)]
        if self._vim_mode:
            fields.insert(0, f"Vim {self._vim_mode}")
        return ", ".join([*fields, "limit reached"] if status.limit_reached else fields)

    def render(self) -> Text:
        """The fields, as many as have room, from the left to the right."""
        width = max(1, self.size.width - 2)
        status = self._status
        if status is None:
            return Text()
        hidden = self._settings
        fields = {
            "model": "" if hidden.get("hideModelInfo") else inert_line(status.model),
            "context": "",
            "sandbox": "" if hidden.get("hideSandboxStatus") else self._sandbox,
            "quota": "limit reached" if status.limit_reached else "",
        }
        if status.left_percent is not None and not hidden.get("hideContextPercentage"):
            words = "context left" if width >= _WIDE else "left"
            fields["context"] = f"{status.left_percent}% {words}"
        mode = f"[{self._vim_mode}] " if self._vim_mode else ""
        width -= len(mode)
        shown = _fitting(fields, width)
        room = width - cell_len(_GAP.join(shown)) - (len(_GAP) if shown else 0)
        folder = "" if hidden.get("hideCWD") else _shortened(inert_line(self._folder), room)
        left, right = Text(f" {mode}{folder}", "dim"), Text(_GAP.join(shown))
        gap = max(0, len(mode) + width + 1 - left.cell_len - right.cell_len)
        return left.append(" " * gap).append_text(right)


def _fitting(fields: Mapping[str, str], width: int) -> list[str]:
    """The fields that have room, in the order in which they stand."""
    chosen: list[str] = []
    for name in _BY_NEED:
        known = [fields[each] for each in (*chosen, name) if fields[each]]
        if fields[name] and cell_len(_GAP.join(known)) <= width:
            chosen.append(name)
    return [fields[name] for name in _ORDER if name in chosen]


def _shortened(path: str, width: int) -> str:
    """A path in `width` columns: its beginning is left out."""
    if width < _LEAST_FOLDER:
        return ""
    return path if cell_len(path) <= width else f"…{path[-(width - 1) :]}"
