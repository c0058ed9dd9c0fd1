"""Confines the runs of untrusted cassettes.

The runs inside a `with confining(True)` block are confined. Each has a `Cell`, which closes the
seams, ends the run at the first refused attempt, and finds the attempt's place in the cassette. The
case is then inconclusive.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Final

from harness.cassette.format import Cassette
from harness.replay.observation import RunPaths
from harness.replay.wall import walled
from parity import own_name
from runtimes.registry import warm_modules
from services.confinement import Confinement, Refusal, confined
from services.scoping import Scoped
from services.wire import Json

__all__ = ["Cell", "confining"]

_LONGEST: Final = 80
_SHORTEST: Final = 3
"""Characters that a text of the cassette needs to identify the place of an attempt."""

_CONFINED: Final = Scoped("confined_runs", default=False)


def confining(on: bool) -> AbstractContextManager[None]:
    """Confine the runs of cassettes inside the `with` block, or do not."""
    return _CONFINED.set(on)


class Cell:
    """The confinement of one run, if runs are confined."""

    def __init__(self, cassette: Cassette) -> None:
        self.confines = _CONFINED.value
        """Whether the run is confined."""
        self._cassette = cassette
        self._stop: Callable[[], None] | None = None
        self._paths: RunPaths | None = None
        self._moment: Callable[[], str] = lambda: "the session's start"
        self.refusal: str | None = None
        """Why the run was ended; `None` while nothing was refused."""

    @contextmanager
    def closed(self, folder: Path, engines: Sequence[str]) -> Iterator[None]:
        """Confine what runs inside the `with` block to `folder`.

        The modules of `engines` and services are imported before that, since libraries may start
        programs at import.
        """
        if not self.confines:
            yield
            return
        importlib.import_module(own_name("services.warm"))
        loaded = [importlib.import_module(name) for name in warm_modules(engines)]
        code = [Path(module.__file__).parent for module in loaded if module.__file__]
        confinement = Confinement(self._refused)
        with confined(confinement), walled(confinement, [folder], code):
            yield

    def watch(self, paths: RunPaths, moment: Callable[[], str]) -> None:
        """Shorten `paths` in reports; `moment` returns what the run does at an unnamed attempt."""
        self._paths, self._moment = paths, moment

    @contextmanager
    def ending(self, task: asyncio.Task[object]) -> Iterator[None]:
        """Cancel `task` at the first refused attempt."""
        loop = asyncio.get_running_loop()
        handles: list[asyncio.Handle] = []
        self._stop = lambda: handles.append(loop.call_soon_threadsafe(task.cancel))
        try:
            yield
        finally:
            self._stop = None
            for handle in handles:
                handle.cancel()

    def _refused(self, refusal: Refusal) -> None:
        if self.refusal is not None:
            return
        what = refusal.what if self._paths is None else self._paths.mask_text(refusal.what)
        found = _named_by(self._cassette.document, what)
        text, place = (what, self._moment()) if found is None else found
        shown = " ".join(text.split())
        shown = shown if len(shown) <= _LONGEST else f"{shown[: _LONGEST - 1]}…"
        self.refusal = (
            f"{refusal.seam} is refused to a cassette that is not trusted ({place}: {shown}); "
            "give --trust if you trust it"
        )
        if self._stop is not None:
            self._stop()


def _named_by(document: Json, what: str) -> tuple[str, str] | None:
    """Return the longest text of the cassette that is in `what` or contains it, and its place."""
    best: tuple[int, str, str] | None = None
    for place, text in _texts(document, ""):
        shared = text if text in what else what if what in text else ""
        if len(shared) >= _SHORTEST and (best is None or len(shared) > best[0]):
            best = (len(shared), shared, place)
    return None if best is None else (best[1], best[2])


def _texts(value: Json, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield place, value.strip()
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(item, f"{place}.{key}" if place else key)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _texts(item, f"{place}[{index}]")
