"""`ModelDialog`. Source: `packages/cli` `ui/components/ModelDialog.tsx`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static

from services.model.names import (
    ALIAS_AUTO,
    DEFAULT_PRO,
    LATEST_FLASH,
    PREVIEW_3_1_CUSTOM_TOOLS,
    PREVIEW_3_1_PRO,
    PREVIEW_PRO,
    AccessFlags,
    display_name,
)
from surfaces.terminal.dialogs.dialog import Dialog
from surfaces.terminal.dialogs.options import Choice, NumberedOptions

__all__ = ["ModelDialog"]

_MANUAL: Final = "Manual"
_FLAG: Final = "> To use a specific Gemini model on startup, use the --model flag."


class ModelDialog(Dialog[tuple[str, bool] | None]):
    """The model, and whether it is kept for later sessions; `None` for Esc.

    The first page offers the router or a fixed model, the second the fixed models. Esc on the
    second page leads back.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("tab", "keep", show=False)]

    def __init__(self, present: str, access: AccessFlags) -> None:
        """Offer the models of `access`; `present` is the session's."""
        super().__init__(None)
        self._present = present
        self._access = access
        self._kept = False
        self._models = _models(access)
        self._manual = False

    def compose(self) -> ComposeResult:
        """Heading, options, what is kept, keys."""
        yield Static(Text("Select Model", style="bold"), markup=False, classes="heading")
        yield self._options()
        yield Static(markup=False, id="kept")
        yield Static(_FLAG, markup=False)
        yield Static("(Press Esc to close)", markup=False, classes="keys")

    def on_mount(self) -> None:
        """The options have the keys."""
        self._show_kept()
        self.query_one(NumberedOptions).focus()

    def action_keep(self) -> None:
        """Tab: keep the model, or not."""
        self._kept = not self._kept
        self._show_kept()

    async def action_escape(self) -> None:
        """Go back to the first page, or close."""
        if self._manual:
            await self._turn(manual=False)
        else:
            self.settle(None)

    async def on_numbered_options_chosen(self, event: NumberedOptions.Chosen) -> None:
        """Answer, or open the second page."""
        event.stop()
        if self._manual:
            self.settle((self._models[event.index], self._kept))
        elif event.index == 0:
            self.settle((ALIAS_AUTO, self._kept))
        else:
            await self._turn(manual=True)

    async def _turn(self, *, manual: bool) -> None:
        self._manual = manual
        old, new = self.query_one(NumberedOptions), self._options()
        await self.mount(new, before=old)
        await old.remove()
        new.focus()

    def _options(self) -> NumberedOptions:
        models, present = self._models, self._present
        if self._manual:
            choices = [Choice(label=self._named(model)) for model in models]
            return NumberedOptions(choices, first=models.index(present) if present in models else 0)
        access = self._access
        pro = PREVIEW_PRO if access.preview else DEFAULT_PRO
        if access.preview and access.gemini31_launched:
            pro = PREVIEW_3_1_PRO
        flash = access.preview_flash if access.preview else access.default_flash
        if access.preview and access.latest_flash:
            flash = LATEST_FLASH
        best = f"{self._named(pro)}, {self._named(flash)}"
        manual = f"{_MANUAL} ({self._named(present)})" if present in models else _MANUAL
        choices = [
            Choice(
                label="Auto", detail=f"Let the router decide the best model for the task: {best}"
            ),
            Choice(label=manual, detail="Manually select a model"),
        ]
        return NumberedOptions(choices, first=0 if present == ALIAS_AUTO else 1)

    def _named(self, model: str) -> str:
        return display_name(model, self._access)

    def _show_kept(self) -> None:
        kept = "true" if self._kept else "false"
        words = f"Remember model for future sessions: {kept} (Press Tab to toggle)"
        self.query_one("#kept", Static).update(words)


def _models(access: AccessFlags) -> Sequence[str]:
    """The fixed models, previews first."""
    previews = []
    if access.preview:
        pro = PREVIEW_3_1_PRO if access.gemini31_launched else PREVIEW_PRO
        previews = [PREVIEW_3_1_CUSTOM_TOOLS if access.custom_tools else pro, access.preview_flash]
    stable = [DEFAULT_PRO, access.default_flash_lite, access.default_flash]
    return list(dict.fromkeys([*previews, *stable]))
