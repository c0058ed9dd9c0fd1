"""The dialogs about signing in.

Source: `packages/cli` `ui/auth/AuthDialog.tsx`, `ApiAuthDialog.tsx`, `AuthInProgress.tsx`,
`ui/components/LogoutConfirmationDialog.tsx`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum, auto
from typing import Final

from rich.text import Text
from textual.app import ComposeResult
from textual.widgets import Static

from services.model.auth import AuthType
from surfaces.terminal.dialogs.dialog import ChoiceDialog, Dialog
from surfaces.terminal.dialogs.text_field import TextFieldDialog
from surfaces.terminal.inert import inert

__all__ = [
    "AuthDialog",
    "SignedOut",
    "WaitingDialog",
    "api_key_dialog",
    "auth_options",
    "signed_out_dialog",
]

_ASKED: Final = "How would you like to authenticate for this project?"
_MUST: Final = "You must select an auth method to proceed. Press Ctrl+C twice to exit."
_ABOUT_KEY: Final = (
    "Please enter your Gemini API key. It is stored in ~/.gemini/gemini-credentials.json.",
    "You can get an API key from https://aistudio.google.com/app/apikey",
)
_KEY_KEYS: Final = "(Press Enter to submit, Esc to cancel, Ctrl+L to clear stored key)"
_KEY_LETTERS: Final = r"[a-zA-Z0-9_.\-]*"


class AuthDialog(ChoiceDialog[AuthType | None]):
    """The way to sign in; `None` for Esc, which a `required` dialog does not take."""

    def __init__(
        self,
        options: Sequence[tuple[str, AuthType]],
        *,
        first: int,
        problem: str | None,
        required: bool,
    ) -> None:
        choices: list[tuple[str, AuthType | None]] = list(options)
        super().__init__("? Get started", [], _ASKED, choices, escape=None, first=first)
        self._problem = problem
        self._required = required

    def compose(self) -> ComposeResult:
        """The choice, what went wrong, the keys."""
        yield from super().compose()
        yield Static(inert(self._problem or ""), markup=False, id="auth-problem")
        yield Static("(Use Enter to select)", markup=False, classes="keys")

    async def action_escape(self) -> None:
        """Close, or say that a choice is needed."""
        if self._required:
            self.query_one("#auth-problem", Static).update(_MUST)
        else:
            self.settle(None)


def auth_options(variables: Mapping[str, str], enforced: str | None) -> list[tuple[str, AuthType]]:
    """The ways to sign in that this machine and the settings leave."""
    options = [("Sign in with Google", AuthType.LOGIN_WITH_GOOGLE)]
    if variables.get("CLOUD_SHELL") == "true":
        options.append(("Use Cloud Shell user credentials", AuthType.COMPUTE_ADC))
    elif variables.get("GEMINI_CLI_USE_COMPUTE_ADC") == "true":
        words = "Use metadata server application default credentials"
        options.append((words, AuthType.COMPUTE_ADC))
    options.append(("Use Gemini API Key", AuthType.USE_GEMINI))
    options.append(("Vertex AI", AuthType.USE_VERTEX_AI))
    return [each for each in options if enforced is None or each[1] == enforced]


def api_key_dialog(present: str, clear: Callable[[], None]) -> TextFieldDialog:
    """The API key; `present` is the one that is known, and `clear` forgets the stored one."""
    return TextFieldDialog(
        "Enter Gemini API Key",
        _ABOUT_KEY,
        placeholder="Paste your API key here",
        keys=_KEY_KEYS,
        letters=_KEY_LETTERS,
        hidden=bool(present),
        value=present,
        clear=clear,
    )


class WaitingDialog(Dialog[None]):
    """Something works; Esc ends it."""

    def __init__(self, words: str) -> None:
        super().__init__(None)
        self._words = words
        self._lines: list[str] = []

    def compose(self) -> ComposeResult:
        """What works, and what it says."""
        yield Static(Text(self._words, style="bold"), markup=False, classes="heading")
        yield Static(markup=False, id="waiting-lines")

    def on_mount(self) -> None:
        """The dialog has the keys."""
        self.can_focus = True
        self.focus()
        self._draw()

    def say(self, line: str) -> None:
        """Show a further line."""
        self._lines.append(line)
        if self.is_mounted:
            self._draw()

    def _draw(self) -> None:
        self.query_one("#waiting-lines", Static).update("\n".join(map(inert, self._lines)))


class SignedOut(Enum):
    """What follows a sign-out."""

    SIGN_IN = auto()
    EXIT = auto()


def signed_out_dialog() -> ChoiceDialog[SignedOut]:
    """Sign in again, or leave? Esc leaves."""
    return ChoiceDialog(
        "You are now signed out",
        [Text("Sign in again to continue, or exit the application.")],
        "",
        [("Sign in", SignedOut.SIGN_IN), ("Exit", SignedOut.EXIT)],
        escape=SignedOut.EXIT,
        keys="(Use Enter to select, Esc to close)",
    )
