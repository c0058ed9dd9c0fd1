"""`SessionBrowser`: the recorded sessions of a folder, to search, resume and delete.

Source: `packages/cli` `ui/components/SessionBrowser.tsx` and `SessionBrowser/` (keys, columns,
words).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.widgets import Static

from surfaces.commands.durations import age
from surfaces.headless.sessions import RecordedSession
from surfaces.terminal.dialogs.dialog import Dialog
from surfaces.terminal.inert import inert_line

__all__ = ["SessionBrowser"]

_PAGE: Final = 20
_MARK: Final = "\u276f"
_AROUND: Final = 9
"""The lines around the sessions: frame, heading, keys, columns, marks."""
_CONTEXT: Final = 10
"""How many letters of the text stand before and after a match."""
_KEYS: Final = (
    "Navigate: ↑/↓   Resume: Enter   Search: /   Delete: x   Quit: q\n"
    "Sort: s         Reverse: r      First/Last: g/G"
)
_EMPTY: Final = "No auto-saved conversations found.\nPress q to exit"
_ORDERS: Final[Mapping[str, Callable[[RecordedSession], object]]] = {
    "date": lambda session: session.updated,
    "messages": lambda session: session.messages,
    "name": lambda session: session.title.lower(),
}
_DESCENDING: Final = frozenset({"date", "messages"})

Delete = Callable[[RecordedSession], Awaitable[None]]
"""Deletes a session, or raises `OSError` or `ValueError`."""
Read = Callable[[], Awaitable[Mapping[str, str]]]
"""The words of each session by its id, for the search."""


class SessionBrowser(Dialog[RecordedSession | None]):
    """The session to go on with; `None`: none.

    Args:
        sessions: what is listed.
        current: the id of the open session, which cannot be chosen.
        now_ms: the time in Unix milliseconds, for the ages.
        read: called when a search begins.
        delete: called for `x`.
    """

    can_focus = True

    def __init__(
        self,
        sessions: Sequence[RecordedSession],
        *,
        current: str,
        now_ms: int,
        read: Read,
        delete: Delete,
    ) -> None:
        super().__init__(None)
        self._sessions = list(sessions)
        self._current = current
        self._now_ms = now_ms
        self._read = read
        self._delete = delete
        self._words: Mapping[str, str] = {}
        self._query: str | None = None
        """What is searched; `None`: no search is open."""
        self._order = "date"
        self._reverse = False
        self._active = 0
        self._error = ""

    def compose(self) -> ComposeResult:
        """The whole list is one text."""
        yield Static(self._text(), id="sessions")

    def on_mount(self) -> None:
        """The list has the keys."""
        self.focus()

    async def action_escape(self) -> None:
        """Close the search, or the list."""
        if self._query is None:
            self.settle(None)
            return
        self._query = None
        self._show(0)

    async def on_key(self, event: events.Key) -> None:
        """Move, search, sort, delete or resume."""
        if event.key == "escape":
            return
        event.stop()
        event.prevent_default()
        shown = self._shown()
        moves = {"up": -1, "down": 1, "pageup": -_PAGE, "pagedown": _PAGE}
        if event.key in moves:
            self._show(self._active + moves[event.key])
        elif event.key == "enter":
            if shown and shown[self._active].session_id != self._current:
                self.settle(shown[self._active])
        elif self._query is not None:
            if event.key == "backspace":
                self._query = self._query[:-1]
            elif event.is_printable:
                self._query += event.character or ""
            self._show(0)
        else:
            await self._command(event.character or "", shown)

    async def _command(self, letter: str, shown: Sequence[RecordedSession]) -> None:
        match letter:
            case "q" | "Q":
                self.settle(None)
            case "/":
                self._query = ""
                self._words = await self._read()
                self._show(0)
            case "s":
                orders = list(_ORDERS)
                self._order = orders[(orders.index(self._order) + 1) % len(orders)]
                self._show(self._active)
            case "r":
                self._reverse = not self._reverse
                self._show(self._active)
            case "g" | "G":
                self._show(0 if letter == "g" else len(shown) - 1)
            case "u" | "d":
                self._show(self._active + (_PAGE // 2 if letter == "d" else -_PAGE // 2))
            case "x" | "X" if shown and shown[self._active].session_id != self._current:
                await self._deleted(shown[self._active])

    async def _deleted(self, session: RecordedSession) -> None:
        try:
            await self._delete(session)
        except (OSError, ValueError) as error:
            self._error = f"Failed to delete session: {error}"
        else:
            self._sessions.remove(session)
        self._show(self._active)

    def _show(self, active: int) -> None:
        self._active = max(0, min(active, len(self._shown()) - 1))
        self.query_one("#sessions", Static).update(self._text())

    def _shown(self) -> list[RecordedSession]:
        """The sessions that the search leaves, in the chosen order."""
        found = [session for session in self._sessions if self._matches(session)]
        descending = (self._order in _DESCENDING) != self._reverse
        return sorted(found, key=_ORDERS[self._order], reverse=descending)  # type: ignore[arg-type]  # texts or numbers, one kind for each order

    def _matches(self, session: RecordedSession) -> bool:
        wanted = (self._query or "").strip().lower()
        places = (session.title, session.session_id, self._words.get(session.session_id, ""))
        return not wanted or any(wanted in place.lower() for place in places)

    def _text(self) -> Text:
        if self._error:
            return Text(f"Error: {inert_line(self._error)}\nPress q to exit")
        if not self._sessions:
            return Text(_EMPTY)
        shown = self._shown()
        filtered = ", filtered" if self._query else ""
        direction = "asc" if self._reverse else "desc"
        lines = [
            Text(f"Chat Sessions ({len(shown)} total{filtered})", style="bold").append(
                f"   sorted by {self._order} {direction}", style="dim not bold"
            )
        ]
        if self._query is None:
            lines.append(Text(_KEYS, style="dim"))
        else:
            lines.append(Text(f"\nSearch: {self._query} (Esc to cancel)"))
        if shown:
            room = self.room(around=_AROUND, lines=1, most=_PAGE)
            first = max(0, min(self._active - room // 2, len(shown) - room))
            head = "Match" if self._query else "Name"
            mark = "▲" if first else " "
            lines.append(Text(f"\n{mark} Index │ Msgs │ Age  │ {head}", style="bold"))
            page = list(enumerate(shown))[first : first + room]
            lines += [self._line(number, session) for number, session in page]
            lines.append(Text("▼" if first + room < len(shown) else ""))
        else:
            lines.append(Text(f"\nNo sessions found matching '{self._query}'.", style="dim"))
        return Text("\n").join(lines)

    def _line(self, number: int, session: RecordedSession) -> Text:
        chosen = number == self._active
        current = session.session_id == self._current
        name, more = self._named(session)
        since = age(self._now_ms - session.updated_ms).removesuffix(" ago").replace("just ", "")
        place = f"{_MARK if chosen else ' '} {f'#{number + 1}':<5}"
        line = Text(
            f"{place} │ {session.messages:>4} │ {since:<4} │ ",
            style="bold" if chosen else "dim" if current else "",
        )
        return self.line(line.append(f"{inert_line(name)}{' (current)' if current else ''}{more}"))

    def _named(self, session: RecordedSession) -> tuple[str, str]:
        """The place of the first match, or the title; and how many more matches there are."""
        wanted = (self._query or "").strip().lower()
        words = self._words.get(session.session_id, "")
        at = words.lower().find(wanted) if wanted else -1
        if at < 0:
            return session.title or "(No messages)", ""
        start, end = max(0, at - _CONTEXT), at + len(wanted) + _CONTEXT
        around = f"{'…' if start else ''}{words[start:end]}{'…' if end < len(words) else ''}"
        more = words.lower().count(wanted) - 1
        return around, f" (+{more} more)" if more else ""
