"""The questions of `ask_user`: a page each, and one to review the answers.

Source: `packages/cli` `ui/components/AskUserDialog.tsx`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Input, Static

from surfaces.terminal.dialogs.dialog import Dialog
from surfaces.terminal.dialogs.options import Choice, NumberedOptions
from surfaces.terminal.inert import inert, inert_line

__all__ = ["AskUserDialog"]

_CUSTOM: Final = "Enter a custom value"
_KEYS_CHOICE: Final = "Enter to select · ←/→ to switch questions · Esc to cancel"
_KEYS_TEXT: Final = "Enter to submit · Tab/Shift+Tab to switch questions · Esc to cancel"
_KEYS_REVIEW: Final = "Enter to submit · Tab/Shift+Tab to edit answers · Esc to cancel"
_KEYS_ONE: Final = "Enter to select · ↑/↓ to navigate · Esc to cancel"

Question = Mapping[str, Any]


class AskUserDialog(Dialog[Mapping[str, str] | None]):
    """Asks the questions; the answer has their indices as keys, and is `None` for Esc."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "turn(-1)", show=False),
        Binding("right", "turn(1)", show=False),
        Binding("shift+tab", "turn(-1)", show=False, priority=True),
        Binding("tab", "turn(1)", show=False, priority=True),
        Binding("enter", "submit", show=False),
    ]
    can_focus = True

    def __init__(self, questions: Sequence[Question]) -> None:
        super().__init__(None)
        self._questions = questions
        self._answers: dict[int, str] = {}
        self._ticked: dict[int, list[bool]] = {}
        self._page = 0

    @property
    def questions(self) -> Sequence[Question]:
        """The questions, in their order."""
        return self._questions

    @property
    def _reviews(self) -> bool:
        return self._page == len(self._questions)

    def compose(self) -> ComposeResult:
        """The pages' names, and the page."""
        yield Static("Answer Questions", markup=False, classes="heading")
        yield Static("", markup=False, id="pages")
        yield Vertical(id="page")

    async def on_mount(self) -> None:
        """Show the first question."""
        await self._show()

    async def action_turn(self, step: int) -> None:
        """Go to the next page or the one before."""
        last = len(self._questions) if len(self._questions) > 1 else 0
        page = min(max(self._page + step, 0), last)
        if page != self._page:
            self._page = page
            await self._show()

    async def action_submit(self) -> None:
        """Submit the answers on the last page."""
        if self._reviews:
            self._finish()

    async def on_numbered_options_chosen(self, event: NumberedOptions.Chosen) -> None:
        """Note an answer; go on, unless several may be chosen."""
        event.stop()
        question = self._questions[self._page]
        labels = _labels(question)
        if not question.get("multiSelect"):
            self._answers[self._page] = event.text or labels[event.index]
            await self._next()
            return
        ticked = self._ticked.setdefault(self._page, [False] * (len(labels) + 1))
        if event.index < len(labels):
            ticked[event.index] = not ticked[event.index]
        elif event.index == len(labels):
            ticked[:] = [not all(ticked[:-1])] * len(ticked)
        else:
            self._answers[self._page] = event.text
            await self._next()
            return
        ticked[-1] = all(ticked[:-1])
        chosen = [label for label, on in zip(labels, ticked, strict=False) if on]
        if chosen:
            self._answers[self._page] = ", ".join(chosen)
        else:
            self._answers.pop(self._page, None)
        self.query_one(NumberedOptions).check(ticked)
        self._show_pages()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Note the text so far."""
        event.stop()
        if event.value.strip():
            self._answers[self._page] = event.value.strip()
        else:
            self._answers.pop(self._page, None)
        self._show_pages()

    async def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go on."""
        event.stop()
        await self._next()

    async def _next(self) -> None:
        if len(self._questions) == 1:
            self._finish()
        else:
            await self.action_turn(1)

    def _finish(self) -> None:
        self.settle({str(index): text for index, text in sorted(self._answers.items())})

    def _show_pages(self) -> None:
        names = [
            f"{'✓' if index in self._answers else '□'} {inert_line(str(question.get('header')))}"
            for index, question in enumerate(self._questions)
        ]
        line = self.query_one("#pages", Static)
        line.display = len(names) > 1
        line.update(f"← {' │ '.join([*names, '≡ Review'])} →")

    async def _show(self) -> None:
        self._show_pages()
        page = self.query_one("#page", Vertical)
        await page.remove_children()
        if self._reviews:
            await page.mount(
                Static("Review your answers:\n", markup=False),
                Static("\n".join(self._reviewed()), markup=False),
                Static(f"\n{_KEYS_REVIEW}", markup=False, classes="keys"),
            )
            self.focus()
            return
        question = self._questions[self._page]
        words = inert(str(question.get("question")))
        several = bool(question.get("multiSelect"))
        await page.mount(Static(f"{words}\n", markup=False, classes="question"))
        if question.get("type") == "choice":
            if several:
                await page.mount(Static("(Select all that apply)\n", markup=False))
            ticked = self._ticked.get(self._page, [False] * (len(_labels(question)) + 1))
            options = NumberedOptions(_choices(question), checked=ticked if several else None)
            await page.mount(options)
            options.focus()
            keys = _KEYS_CHOICE if len(self._questions) > 1 else _KEYS_ONE
        elif question.get("type") == "yesno":
            options = NumberedOptions([Choice(label="Yes"), Choice(label="No")])
            await page.mount(options)
            options.focus()
            keys = _KEYS_CHOICE if len(self._questions) > 1 else _KEYS_ONE
        else:
            field = Input(
                value=self._answers.get(self._page, ""),
                placeholder=inert_line(str(question.get("placeholder") or "")),
                compact=True,
            )
            # A blinking cursor would redraw an idle screen for ever.
            field.cursor_blink = False
            await page.mount(field)
            field.focus()
            keys = _KEYS_TEXT
        await page.mount(Static(f"\n{keys}", markup=False, classes="keys"))

    def _reviewed(self) -> list[str]:
        return [
            f"{inert_line(str(question.get('header')))} → "
            f"{inert_line(self._answers.get(index, '(not answered)'))}"
            for index, question in enumerate(self._questions)
        ]


def _labels(question: Question) -> list[str]:
    if question.get("type") == "yesno":
        return ["Yes", "No"]
    return [str(option.get("label")) for option in question.get("options") or ()]


def _choices(question: Question) -> list[Choice]:
    choices = [
        Choice(label=str(option.get("label")), detail=str(option.get("description") or ""))
        for option in question.get("options") or ()
    ]
    if question.get("multiSelect"):
        choices.append(Choice(label="All of the above", detail="Select all options"))
    return [*choices, Choice(label=_CUSTOM, free=True)]
