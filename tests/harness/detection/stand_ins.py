"""A small catalogue, cassettes to measure it with, and what its faults break.

Its functions are module-level: worker processes find them by name.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from harness.faults.catalogue import CatalogueAt
from seeded_faults import Behaviour, Fault, Site
from seeded_faults.patching import replaced

CATALOGUE = CatalogueAt(f"{__name__}:catalogue")
TRANSLATE = "runtimes.legacy.translate:StreamTranslator.translate"

CASSETTE = """\
cassette: 1
name: {name}
phase: A
session:
  model: gemini-2.5-flash
script:
- send: hi
model:
- stream:
  - candidates:
    - content:
        role: model
        parts:
        - text: Hello there.
      index: 0
      finishReason: STOP
    usageMetadata: {{promptTokenCount: 7, candidatesTokenCount: 3, totalTokenCount: 10}}
"""


def write_cassettes(folder: Path, *names: str) -> Path:
    """Cassettes of one plain answer each."""
    for name in names:
        file = folder / f"{name}.yaml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(CASSETTE.format(name=name))
    return folder


def _lossy(translate: Any) -> Any:
    def broken(self: Any, event: Any) -> Iterator[Any]:
        return (found for found in translate(self, event) if found.type != "usage")

    return broken


def _raising(translate: Any) -> Any:
    def broken(self: Any, event: Any) -> Iterator[Any]:
        raise ZeroDivisionError("nothing to divide")

    return broken


def _as_it_is(kept: Any) -> Any:
    def broken(*args: Any, **kwargs: Any) -> Any:
        return kept(*args, **kwargs)

    return broken


def _stuck(translate: Any) -> Any:
    def broken(self: Any, event: Any) -> Iterator[Any]:
        while True:
            pass

    return broken


def _fatal(translate: Any) -> Any:
    def broken(self: Any, event: Any) -> Iterator[Any]:
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError

    return broken


def _interrupting(translate: Any) -> Any:
    def broken(self: Any, event: Any) -> Iterator[Any]:
        terminal = multiprocessing.parent_process()
        if terminal is None:
            signal.raise_signal(signal.SIGINT)
        else:  # Ctrl-C is the parent's to handle, which ends its workers
            os.kill(terminal.pid or 0, signal.SIGINT)
            signal.pause()
        events: Iterator[Any] = translate(self, event)
        return events

    return broken


def _deaf(feed: Any) -> Any:
    def broken(self: Any, chunk: Any) -> None:
        feed(self, {key: value for key, value in chunk.items() if key != "usageMetadata"})

    return broken


_once: list[int] = []


def _only_once(translate: Any) -> Any:
    def broken(self: Any, event: Any) -> Iterator[Any]:
        for found in translate(self, event):
            if found.type == "usage" and not _once:
                _once.append(1)
                continue
            yield found

    return broken


def fault(
    name: str,
    breaks: Callable[[], AbstractContextManager[None]],
    *,
    site: Site = Site.LEGACY,
    behaviour: Behaviour = Behaviour.ANSWERS,
    **more: Any,
) -> Fault:
    says = f"What {name} does."
    return Fault(
        name=name, site=site, behaviour=behaviour, says=says, origin="a test", breaks=breaks, **more
    )


def catalogue() -> Mapping[str, Fault]:
    """The stand-in catalogue."""
    found = [
        fault("usage-lost", lambda: replaced(TRANSLATE, _lossy)),
        fault("translator-raises", lambda: replaced(TRANSLATE, _raising)),
        fault("harmless", lambda: replaced(TRANSLATE, _as_it_is), behaviour=Behaviour.TOOLS),
        fault(
            "dead",
            lambda: replaced("runtimes.legacy.chat:retry_nudge", _as_it_is),
            behaviour=Behaviour.HOOKS,
        ),
        fault(
            "cannot-show",
            lambda: replaced(TRANSLATE, _as_it_is),
            unobservable="it does what the good one does; see test_faults",
        ),
        fault(
            "can-show-after-all",
            lambda: replaced(TRANSLATE, _lossy),
            unobservable="somebody thought so",
            held_out=True,
        ),
        fault("usage-lost-later", lambda: replaced(TRANSLATE, _lossy), held_out=True),
    ]
    return {each.name: each for each in found}


def odd_catalogue() -> Mapping[str, Fault]:
    """Faults that do worse things."""
    found = [
        fault("gone", lambda: replaced("runtimes.legacy.translate:Gone.method", _lossy)),
        fault("kills-its-worker", lambda: replaced(TRANSLATE, _fatal)),
        fault("turns-in-a-circle", lambda: replaced(TRANSLATE, _stuck)),
        fault("fine", lambda: replaced(TRANSLATE, _lossy)),
        fault("interrupts", lambda: replaced(TRANSLATE, _interrupting)),
        fault("shows-once", lambda: replaced(TRANSLATE, _only_once)),
    ]
    return {each.name: each for each in found}


def service_catalogue() -> Mapping[str, Fault]:
    """A fault of a service, which breaks both runtimes alike."""
    target = "services.model.stream:StreamAssembler.feed"
    found = [
        fault("service", lambda: replaced(target, _deaf), site=Site.SERVICE),
        fault("service-harmless", lambda: replaced(target, _as_it_is), site=Site.SERVICE),
    ]
    return {each.name: each for each in found}
