"""New versions of extensions: looked for when a session begins.

Source: `packages/cli` `ui/hooks/useExtensionUpdates.ts`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from services.extensions.live import SessionExtensions
from services.extensions.manifest import ExtensionError
from surfaces.commands import CONSENT_QUESTION
from surfaces.terminal.drawing import Drawing, Typed

__all__ = ["offer_extension_updates"]


async def offer_extension_updates(
    extensions: SessionExtensions, drawing: Drawing, consent: Callable[[str], Awaitable[bool]]
) -> None:
    """Update the extensions that update themselves, and name the others with a new version."""

    async def agrees(text: str) -> bool:
        return await consent(f"{text}\n\n{CONSENT_QUESTION}")

    names = []
    for name in await extensions.look_for_updates():
        extension = extensions.store.get(name)
        if extension is None or extension.origin is None or not extension.origin.auto_update:
            names.append(name)
            continue
        try:
            done = await extensions.update(name, agrees)
        except (ExtensionError, OSError, ValueError) as error:
            drawing.add(Typed(text=str(error), mark="error"))
        else:
            drawing.add(Typed(text=done.message, mark="info"))
    if names:
        s = "s" if len(names) > 1 else ""
        words = (
            f"You have {len(names)} extension{s} with an update available. "
            f'Run "/extensions update {" ".join(names)}".'
        )
        drawing.add(Typed(text=words, mark="info"))
