"""`NumberedOptions`: options as lines `1. …`, chosen with the arrows or by their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from rich.text import Text
from textual import events
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from surfaces.terminal.inert import inert_line

__all__ = ["Choice", "NumberedOptions"]

_MARK: Final = "●"
_INDENT: Final = " " * 6
_SMALL_INDENT: Final = " " * 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One option. A `free` one is filled in by typing; its label stands there until then."""

    label: str
    """It may have several lines."""
    detail: str = ""
    free: bool = False


class NumberedOptions(OptionList):
    """A list of options.

    Enter chooses the highlighted one, a digit the one with this number. In a list of ten or more,
    a digit that may begin a longer number only highlights. A free option is only highlighted by its
    digit: it is chosen once it has a text. A list may do without numbers.
    """

    @dataclass
    class Chosen(Message):
        """The user has chosen an option; `text` is what was typed in a free one."""

        options: NumberedOptions
        index: int
        text: str

    @dataclass
    class Typed(Message):
        """The text of the free option has changed, or another option is highlighted."""

        options: NumberedOptions

    def __init__(
        self,
        choices: Sequence[Choice],
        *,
        checked: Sequence[bool] | None = None,
        numbered: bool = True,
        first: int = 0,
        id: str | None = None,
    ) -> None:
        """Offer `choices`.

        Args:
            choices: the options.
            checked: adds boxes for those that may be ticked.
            numbered: whether the options have numbers.
            first: the index of the option that is highlighted at first.
            id: the widget's name.
        """
        self._choices = list(choices)
        self._checked = list(checked) if checked is not None else None
        self._numbered = numbered
        self.typed = ""
        self._number = 0
        """The number whose digits the user has begun to type."""
        options = (Option(self._prompt(i, chosen=i == first)) for i in range(len(choices)))
        super().__init__(*options, id=id)
        self.highlighted = first

    @property
    def on_free(self) -> bool:
        """Whether the highlighted option is filled in by typing."""
        return self.highlighted is not None and self._choices[self.highlighted].free

    def offer(self, choices: Sequence[Choice]) -> None:
        """Offer other options, the first of them highlighted."""
        self._choices = list(choices)
        self.clear_options()
        self.add_options(Option(self._prompt(i, chosen=i == 0)) for i in range(len(choices)))
        self.highlighted = 0 if choices else None

    def check(self, checked: Sequence[bool]) -> None:
        """Tick these options."""
        self._checked = list(checked)
        self._redraw()

    def relabel(self, labels: Sequence[str]) -> None:
        """Give the first options other labels."""
        for index, label in enumerate(labels):
            self._choices[index] = replace(self._choices[index], label=label)
        self._redraw()

    def watch_highlighted(self, highlighted: int | None) -> None:
        """Move the mark."""
        super().watch_highlighted(highlighted)
        self._redraw()
        self.post_message(self.Typed(self))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Report the choice."""
        event.stop()
        self._choose(event.option_index)

    def on_key(self, event: events.Key) -> None:
        """Type into a free option, or choose by number."""
        if self.on_free and (event.is_printable or event.key == "backspace"):
            event.stop()
            event.prevent_default()
            gone = event.key == "backspace"
            self.typed = self.typed[:-1] if gone else self.typed + (event.character or "")
            self._redraw()
            self.post_message(self.Typed(self))
        elif self._numbered and event.character and event.character.isdigit():
            event.stop()
            event.prevent_default()
            self._type_digit(int(event.character))

    def _type_digit(self, digit: int) -> None:
        longer = self._number * 10 + digit
        self._number = longer if 0 < longer <= len(self._choices) else digit
        index = self._number - 1
        if not 0 <= index < len(self._choices):
            return
        self.highlighted = index
        if self._number * 10 <= len(self._choices) or self._choices[index].free:
            return
        self._choose(index)

    def _choose(self, index: int) -> None:
        if self._choices[index].free and not self.typed.strip():
            return
        text = self.typed if self._choices[index].free else ""
        self.post_message(self.Chosen(self, index, text))

    def _redraw(self) -> None:
        for index in range(min(self.option_count, len(self._choices))):
            prompt = self._prompt(index, chosen=index == self.highlighted)
            self.replace_option_prompt_at_index(index, prompt)

    def _prompt(self, index: int, *, chosen: bool) -> Text:
        choice = self._choices[index]
        label = self.typed if choice.free and self.typed else choice.label
        box = ""
        if self._checked is not None and index < len(self._checked):
            box = "[x] " if self._checked[index] else "[ ] "
        width = len(str(len(self._choices)))
        number = f"{index + 1:>{width}}. " if self._numbered else ""
        lines = f"\n{_SMALL_INDENT}".join(map(inert_line, label.split("\n")))
        line = f"{_MARK if chosen else ' '} {number}{box}{lines}"
        text = Text(line, style="bold" if chosen else "")
        if choice.detail:
            indent = _INDENT if self._numbered else _SMALL_INDENT
            text.append(f"\n{indent}{inert_line(choice.detail)}", style="dim")
        return text
