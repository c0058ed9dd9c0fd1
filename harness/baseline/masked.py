"""`MaskedPaths`: the paths of an observation that was kept."""

from __future__ import annotations

from harness.replay.observation import RunPaths

__all__ = ["MaskedPaths"]


class MaskedPaths(RunPaths):
    """The paths of an observation in which they are replaced already: there is nothing to mask."""

    def __init__(self) -> None:
        super().__init__(workspace="<WS>", home="<HOME>")

    def mask_text(self, text: str) -> str:
        """`text` as it is."""
        return text

    def mask_json(self, text: str) -> str:
        """`text` as it is."""
        return text
