"""`ScopedDialog`: a choice, and the settings file that it goes to.

Source: `packages/cli` `ui/components/EditorSettingsDialog.tsx`, `ThemeDialog.tsx`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Final, Generic, TypeVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.widget import Widget
from textual.widgets import Static

from surfaces.commands import Scope
from surfaces.headless.preferences import Preferences
from surfaces.terminal.dialogs.dialog import Dialog
from surfaces.terminal.dialogs.options import Choice, NumberedOptions
from surfaces.terminal.editors import EDITORS, editor_named
from surfaces.terminal.themes import DEFAULT_THEME, THEME_SETTING, THEMES

__all__ = ["PREFERRED_EDITOR", "ScopedDialog", "editor_dialog", "theme_dialog"]

A = TypeVar("A")

_SUPPORTED: Final = (
    "These editors are currently supported. Please note that some editors cannot be used in "
    "sandbox mode."
)
_KEYS: Final = "(Use Enter to select, Tab to change focus, Esc to close)"
PREFERRED_EDITOR: Final = "general.preferredEditor"
"""The setting of the external editor."""


def _ignored(_: object) -> None:
    """Nothing depends on what is highlighted."""


class ScopedDialog(Dialog[tuple[A, Scope] | None], Generic[A]):
    """Options on the left, words about them on the right; Tab goes to the scopes and back.

    The answer is the option's value with the scope; `None` for Esc.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("tab", "other_list", show=False)]

    def __init__(
        self,
        heading: str,
        options: Sequence[tuple[str, A]],
        about: Sequence[str],
        *,
        first: Callable[[Scope], int],
        above: Widget | None = None,
        highlighted: Callable[[A], None] = _ignored,
    ) -> None:
        """Offer `options`.

        Args:
            heading: what is chosen.
            options: the labels with their answers.
            about: the paragraphs on the right, the first of them bold.
            first: the option that is highlighted for a scope.
            above: shown above the dialog, without effect.
            highlighted: gets each option that the user highlights.
        """
        super().__init__(None)
        self._heading = heading
        self._options = options
        self._about = about
        self._first = first
        self._above = above
        self._highlighted = highlighted
        self._scope = Scope.USER

    def compose(self) -> ComposeResult:
        """What stands above, the options and the scopes, the words."""
        if self._above is not None:
            self._above.disabled = True
            yield self._above
        choices = [Choice(label=label) for label, _ in self._options]
        scopes = [Choice(label=f"{scope} Settings") for scope in Scope]
        with Horizontal(classes="columns"):
            with Vertical(classes="left"):
                yield Static(markup=False, id="options-heading")
                yield NumberedOptions(choices, first=self._first(self._scope), id="options")
                yield Static(markup=False, id="scopes-heading")
                yield NumberedOptions(scopes, id="scopes")
                yield Static(_KEYS, markup=False, classes="keys")
            with Vertical(classes="right"):
                about = Text("\n\n").join(map(Text, self._about))
                about.stylize("bold", 0, len(self._about[0]))
                yield Static(about, markup=False)

    def on_mount(self) -> None:
        """The options have the keys first."""
        self._focus("options")

    def action_other_list(self) -> None:
        """Tab: the other list has the keys."""
        self._focus("options" if self.query_one("#scopes").has_focus else "scopes")

    def _focus(self, name: str) -> None:
        for each, words in (("options", self._heading), ("scopes", "Apply To")):
            mark = "> " if each == name else "  "
            self.query_one(f"#{each}-heading", Static).update(f"{mark}{words}")
        self.query_one(f"#{name}").focus()

    def on_numbered_options_typed(self, event: NumberedOptions.Typed) -> None:
        """Report what is highlighted."""
        index = event.options.highlighted
        if event.options.id == "options" and index is not None:
            self._highlighted(self._options[index][1])

    def on_numbered_options_chosen(self, event: NumberedOptions.Chosen) -> None:
        """Choose the scope, or answer."""
        event.stop()
        if event.options.id == "scopes":
            self._scope = tuple(Scope)[event.index]
            options = self.query_one("#options", NumberedOptions)
            options.highlighted = self._first(self._scope)
            self._focus("options")
            return
        self.settle((self._options[event.index][1], self._scope))


def editor_dialog(
    preferences: Preferences, variables: Mapping[str, str], above: Widget | None = None
) -> ScopedDialog[str | None]:
    """The choice of the external editor; the value is that of `general.preferredEditor`."""
    options: list[tuple[str, str | None]] = [("None", None)]
    for editor in EDITORS:
        missing = "" if editor.installed(variables) else " (Not installed)"
        options.append((f"{editor.name}{missing}", editor.key))
    keys = [key for _, key in options]

    def first(scope: Scope) -> int:
        own = preferences.own(PREFERRED_EDITOR, scope)
        return keys.index(own) if own in keys else 0

    preferred = editor_named(preferences.in_force(PREFERRED_EDITOR))
    usable = preferred is not None and preferred.installed(variables)
    about = (
        "Editor Preference",
        _SUPPORTED,
        f"Your preferred editor is: {preferred.name if preferred and usable else 'None'}.",
    )
    return ScopedDialog("Select Editor", options, about, first=first, above=above)


def theme_dialog(preferences: Preferences, show: Callable[[str], None]) -> ScopedDialog[str]:
    """The choice of the colours; `show` gets the name of each highlighted theme."""
    names = list(THEMES)

    def first(scope: Scope) -> int:
        own = preferences.own(THEME_SETTING, scope) or preferences.in_force(THEME_SETTING)
        return names.index(own if own in names else DEFAULT_THEME)

    about = ("Preview", "The whole screen shows the theme that is highlighted.")
    options = [(name, name) for name in names]
    return ScopedDialog("Select Theme", options, about, first=first, highlighted=show)
