"""`VimKeys`: from keys to what they do. Source: `packages/cli` `ui/hooks/vim.ts`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from math import inf
from typing import Final, Protocol, cast

from surfaces.terminal.vim.buffer import MOTIONS, SPANS, Buffer, Find, FindKey, Register, Span

__all__ = ["Mode", "TextField", "VimKeys"]

_AT_ONCE_S: Final = 0.5
_ARROWS: Final = {"left": "h", "right": "l", "up": "k", "down": "j"}
_OPERATORS: Final = frozenset("dcy")
_FINDS: Final = frozenset("fFtT")


class Mode(StrEnum):
    """What the keys do; the values are the words of the footer."""

    INSERT = "INSERT"
    """They write."""
    NORMAL = "NORMAL"
    """They are commands."""


class TextField(Protocol):
    """The field that is edited."""

    def read(self) -> Buffer:
        """The text and the cursor."""

    def write(self, buffer: Buffer) -> None:
        """Change the text, which one `undo` takes back, and move the cursor."""

    def undo(self) -> None:
        """Take back the last change."""


class VimKeys:
    """The keys of one field.

    Args:
        field: what they edit.
        changed: called when the mode changes.
    """

    def __init__(self, field: TextField, changed: Callable[[], None]) -> None:
        self._field = field
        self._changed = changed
        self._mode = Mode.INSERT
        self._count = 0
        self._begun = ""
        """The keys of the command so far: an operator, `g`, both, or a key that takes a letter."""
        self._register: Register | None = None
        self._last: tuple[Callable[[int], None], int] | None = None
        """The command that `.` repeats, with its number."""
        self._last_find: Find | None = None
        self._escaped_s = -inf
        """When Esc was pressed last."""

    @property
    def mode(self) -> Mode:
        """What the keys do."""
        return self._mode

    def press(self, key: str, character: str | None, at_s: float) -> bool:
        """Carry out a key; return whether it was one of these.

        Args:
            key: its name.
            character: what it would write; `None`: nothing.
            at_s: when it was pressed, in seconds; Esc twice at once clears the text.
        """
        if key == "escape":
            return self._escape(at_s)
        if self._mode is Mode.INSERT:
            return False
        letter = _ARROWS.get(key) or character
        if letter is None or not letter.isprintable():
            self._begun, self._count = "", 0
            return False
        if self._takes_letter():
            self._find_or_replace(letter)
        elif letter in "123456789" or (letter == "0" and self._count):
            self._count = self._count * 10 + int(letter)
        elif self._begun and self._goes_on(letter):
            self._begun += letter
        else:
            begun, count = self._begun, self._count
            self._begun, self._count = "", 0
            self._run(begun, letter, count)
        return True

    def _escape(self, at_s: float) -> bool:
        again, self._escaped_s = at_s - self._escaped_s <= _AT_ONCE_S, at_s
        if self._mode is Mode.INSERT:
            self._leave_insert()
            return True
        begun, self._begun, self._count = self._begun, "", 0
        if begun:
            self._escaped_s = -inf
        elif again:
            self._field.write(Buffer(("",)))
            self._escaped_s = -inf
        return bool(begun) or again

    def _set(self, mode: Mode) -> None:
        self._mode = mode
        self._changed()

    def _leave_insert(self) -> None:
        buffer = self._field.read()
        self._field.write(buffer.at(buffer.row, max(0, buffer.col - 1)))
        self._set(Mode.NORMAL)

    def _takes_letter(self) -> bool:
        return self._begun[-1:] in _FINDS | {"r"}

    def _goes_on(self, letter: str) -> bool:
        return letter in (_FINDS | {"g"}) and self._begun in _OPERATORS

    def _run(self, begun: str, letter: str, count: int) -> None:
        """Carry out the command that `letter` ends, or begin one."""
        if not begun and letter in _OPERATORS | _FINDS | {"g", "r"}:
            self._begun, self._count = letter, count
        elif begun == "g":
            if letter == "g":
                self._move("gg", count)
        elif begun:
            operator, motion = begun[0], begun[1:] + letter
            self._operate(operator, "line" if motion == operator else motion, count)
        elif letter in MOTIONS:
            self._move(letter, count)
        elif letter in (";", ","):
            self._find_again(count, back=letter == ",")
        elif letter in _INSERTS:
            self._write_with(_INSERTS[letter])
        elif letter == "u":
            for _ in range(max(1, count)):
                self._field.undo()
        elif letter == ".":
            if self._last is not None:
                command, before = self._last
                command(count or before)
        else:
            self._edit(letter, count)

    # ------------------------------------------------------------------ commands

    def _move(self, motion: str, count: int) -> None:
        self._field.write(MOTIONS[motion](self._field.read(), count))

    def _repeatable(self, command: Callable[[int], None], count: int) -> None:
        self._last = (command, count)
        command(count)

    def _operate(self, operator: str, motion: str, count: int) -> None:
        spanned = SPANS.get(motion)
        if spanned is not None:
            self._repeatable(lambda n: self._apply(operator, spanned(self._field.read(), n)), count)

    def _apply(self, operator: str, span: Span | None) -> None:
        if span is not None and (span.linewise or span.start != span.end):
            buffer = self._field.read()
            self._register = Register(buffer.text(span), span.linewise)
            if operator == "d":
                self._field.write(buffer.without(span).on_letter())
            elif operator == "c":
                self._field.write(buffer.emptied(span))
        if operator == "c":
            self._set(Mode.INSERT)

    def _find_or_replace(self, letter: str) -> None:
        begun, count = self._begun, max(1, self._count)
        self._begun, self._count = "", 0
        if begun == "r":
            self._repeatable(
                lambda n: self._field.write(self._field.read().replaced(letter, n)), count
            )
            return
        find = Find(cast("FindKey", begun[-1]), letter)
        if len(begun) == 1:
            self._last_find = find
            self._field.write(self._field.read().to_found(find, count))
            return
        self._repeatable(
            lambda n: self._apply(begun[0], self._field.read().find_span(find, n)), count
        )

    def _find_again(self, count: int, *, back: bool) -> None:
        find = self._last_find
        if find is not None:
            find = find.reversed() if back else find
            self._field.write(self._field.read().to_found(find, max(1, count)))

    def _write_with(self, prepare: Callable[[Buffer], Buffer]) -> None:
        self._field.write(prepare(self._field.read()))
        self._set(Mode.INSERT)

    def _edit(self, letter: str, count: int) -> None:
        short = _SHORT.get(letter)
        if short is not None:
            self._operate(*short, count)
        elif letter == "~":
            self._repeatable(
                lambda n: self._field.write(self._field.read().case_toggled(max(1, n))), count
            )
        elif letter in ("p", "P"):
            self._repeatable(lambda n: self._put(max(1, n), before=letter == "P"), count)

    def _put(self, count: int, *, before: bool) -> None:
        if self._register is not None:
            self._field.write(self._field.read().put(self._register, count, before=before))


_SHORT: Final[Mapping[str, tuple[str, str]]] = {
    "x": ("d", "l"),
    "X": ("d", "h"),
    "D": ("d", "$"),
    "C": ("c", "$"),
    "Y": ("y", "$"),
}
"""Keys that stand for an operator and a motion."""
_INSERTS: Final[Mapping[str, Callable[[Buffer], Buffer]]] = {
    "i": lambda buffer: buffer,
    "a": lambda buffer: buffer.at(buffer.row, min(buffer.col + 1, len(buffer.line))),
    "I": lambda buffer: buffer.at(buffer.row, buffer.first_letter),
    "A": lambda buffer: buffer.at(buffer.row, len(buffer.line)),
    "o": lambda buffer: buffer.with_line(buffer.row + 1),
    "O": lambda buffer: buffer.with_line(buffer.row),
}
"""Where writing begins."""
