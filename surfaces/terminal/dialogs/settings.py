"""`SettingsDialog`: the settings, to search and to change.

Source: `packages/cli` `ui/components/SettingsDialog.tsx`, `shared/BaseSettingsDialog.tsx` (keys and
words).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import ClassVar, Final

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static

from services.wire import Json
from surfaces.commands import CommandError, Scope
from surfaces.headless.preferences import Preferences
from surfaces.terminal.dialogs.dialog import Dialog
from surfaces.terminal.inert import inert_line
from surfaces.terminal.setting_rows import ROWS, SettingRow

__all__ = ["SettingsDialog"]

_PAGE: Final = 8
_AROUND: Final = 13
"""The lines around the settings: frame, search, marks, scopes, keys, messages."""
_KEYS: Final = "(Use Enter to select, Ctrl+L to reset, Tab to change focus, Esc to close)"
_LATER: Final = "The changes take effect in the next session."
_NOW: Final = "Changes saved automatically."
_MARK: Final = "●"


class SettingsDialog(Dialog[None]):
    """Writes each change at once. A text that is typed searches, unless a value is being typed."""

    can_focus = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,ctrl+p", "move(-1)", show=False),
        Binding("down,ctrl+n", "move(1)", show=False),
        Binding("tab", "other_list", show=False),
        Binding("enter", "choose", show=False),
        Binding("ctrl+l", "reset", show=False),
    ]

    def __init__(
        self,
        preferences: Preferences,
        *,
        heading: str = "Settings",
        rows: Sequence[SettingRow] = ROWS,
        searches: bool = True,
        saved: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """Offer settings.

        Args:
            preferences: has the values, and writes them.
            heading: what the settings are about.
            rows: the settings.
            searches: whether a text that is typed filters them.
            saved: called after each change; `None`: a change counts from the next session on.
        """
        super().__init__(None)
        self._preferences = preferences
        self._heading = heading
        self._all = rows
        self._searches = searches
        self._saved = saved
        self._scope = Scope.USER
        self._in_scopes = False
        self._active = 0
        self._query = ""
        self._typed: str | None = None
        """The value that is being typed."""
        self._changed = False
        self._error = ""

    def compose(self) -> ComposeResult:
        """The whole dialog is one text."""
        yield Static(id="settings")

    def on_mount(self) -> None:
        """The dialog has the keys."""
        self._show()
        self.focus()

    async def action_escape(self) -> None:
        """Leave the value, the search, or the dialog."""
        if self._typed is not None:
            self._typed = None
        elif self._query:
            self._query = ""
        else:
            self.settle(None)
        self._show()

    def action_move(self, steps: int) -> None:
        """Highlight the next setting or scope; the ends meet."""
        self._typed = None
        if self._in_scopes:
            scopes = tuple(Scope)
            self._scope = scopes[(scopes.index(self._scope) + steps) % len(scopes)]
        elif rows := self._rows():
            self._active = (self._active + steps) % len(rows)
        self._show()

    def action_other_list(self) -> None:
        """Tab: the settings or the scopes have the keys."""
        self._typed = None
        self._in_scopes = not self._in_scopes
        self._show()

    async def action_choose(self) -> None:
        """Switch the setting, or begin or end to type its value."""
        row = self._row()
        if self._in_scopes or row is None:
            self._in_scopes = False
        elif self._typed is not None:
            await self._take(row, self._typed)
        elif (value := row.next(self._value(row))) is not None:
            await self._save(row, value)
        else:
            value = self._value(row)
            self._typed = "" if value is None else row.shown(value)
        self._show()

    async def action_reset(self) -> None:
        """Remove the setting from the file."""
        row = self._row()
        if row is not None and not self._in_scopes:
            await self._save(row, None)
        self._show()

    def on_key(self, event: events.Key) -> None:
        """Type a value, or what is searched."""
        if self._in_scopes or not (event.is_printable or event.key == "backspace"):
            return
        if self._typed is None and not self._searches:
            return
        event.stop()
        before = self._query if self._typed is None else self._typed
        after = before[:-1] if event.key == "backspace" else before + (event.character or "")
        if self._typed is None:
            self._query, self._active = after, 0
        else:
            self._typed = after
        self._show()

    async def _take(self, row: SettingRow, typed: str) -> None:
        try:
            value = row.parsed(typed)
        except ValueError:
            self._error = f"{row.label}: a number expected, not {typed}"
            return
        self._typed = None
        await self._save(row, value)

    async def _save(self, row: SettingRow, value: Json) -> None:
        try:
            await self._preferences.save(row.key, value, self._scope)
        except CommandError as error:
            self._error = str(error)
            return
        self._changed, self._error = True, ""
        if self._saved is not None:
            await self._saved()

    def _rows(self) -> list[SettingRow]:
        return [row for row in self._all if self._query.strip().lower() in row.label.lower()]

    def _row(self) -> SettingRow | None:
        rows = self._rows()
        return rows[min(self._active, len(rows) - 1)] if rows else None

    def _value(self, row: SettingRow) -> Json:
        """The value of the scope's file, or the one in force elsewhere, or the default."""
        own = self._preferences.own(row.key, self._scope)
        if own is not None:
            return own
        merged = self._preferences.in_force(row.key)
        return row.default if merged is None else merged

    def _show(self) -> None:
        rows = self._rows()
        page = self.room(around=_AROUND, lines=2, most=_PAGE)
        first = max(0, min(self._active - page // 2, len(rows) - page))
        lines = [
            Text(f"{' ' if self._in_scopes else '>'} {self._heading}", style="bold"),
        ]
        if self._searches:
            lines.append(Text(f"  {inert_line(self._query) or 'Search to filter'}", style="dim"))
        lines.append(Text("  ▲" if first else ""))
        for number, row in list(enumerate(rows))[first : first + page]:
            lines += self._lines(row, chosen=number == self._active and not self._in_scopes)
        if not rows:
            lines.append(Text("  No matches found."))
        lines.append(Text("  ▼" if first + page < len(rows) else ""))
        lines.append(Text(f"{'>' if self._in_scopes else ' '} Apply To", style="bold"))
        lines += [
            Text(f"{_MARK if scope is self._scope else ' '} {scope} Settings") for scope in Scope
        ]
        lines.append(Text(_KEYS, style="dim"))
        if self._changed:
            lines.append(Text(_LATER if self._saved is None else _NOW, style="yellow"))
        if self._error:
            lines.append(Text(inert_line(self._error), style="red"))
        self.query_one("#settings", Static).update(Text("\n").join(lines))

    def _lines(self, row: SettingRow, *, chosen: bool) -> list[Text]:
        own = self._preferences.own(row.key, self._scope) is not None
        value = f"{inert_line(row.shown(self._value(row)))}{'*' if own else ''}"
        if chosen and self._typed is not None:
            value = f"{inert_line(self._typed)}▏"
        width = max(20, self.app.size.width - 8)
        space = " " * max(2, width - len(row.label) - len(value))
        style = "bold" if chosen else ""
        return [
            Text(f"{_MARK if chosen else ' '} {row.label}{space}{value}", style=style),
            self.line(Text(f"  {row.description}", style="dim")),
        ]
