"""A function of the services, and the core's answers to compare it with."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

__all__ = ["Subject", "answers_file", "load_answers"]

_ANSWERS: Final = Path(__file__).with_name("answers")
_SHOWN: Final = 200


@dataclass(frozen=True, slots=True)
class Subject:
    """A function that the services share with the core.

    Attributes:
        name: `ROOM.FUNCTION`; `core/ROOM.mjs` exports the core's half as `FUNCTION`.
        answer: ours, from an input to what JSON can hold, in the form that the core's half gives.
    """

    name: str
    answer: Callable[[Any], Any]

    def differs(self, begin: int, end: int) -> tuple[str, ...]:
        """Which of these inputs are answered otherwise than the core answers them, a line each."""
        found: list[str] = []
        for number, (asked, expected) in enumerate(load_answers(self.name)[begin:end], begin):
            ours = json.loads(json.dumps(self.answer(asked)))
            if not _same(ours, expected):
                found.append(
                    f"{self.name}[{number}]: ours is {_short(ours)}, the core's {_short(expected)}"
                )
        return tuple(found)


def answers_file(name: str) -> Path:
    """Where the core's answers to a subject are kept."""
    return _ANSWERS / f"{name}.json"


@cache
def load_answers(name: str) -> list[tuple[Any, Any]]:
    """The inputs of a subject, each with the core's answer."""
    pairs: list[tuple[Any, Any]] = json.loads(answers_file(name).read_text("utf-8"))
    return pairs


def _same(ours: Any, core: Any) -> bool:
    """Equal as JSON: the order of fields counts nothing, and `true` is no number."""
    one, other = (json.dumps(_plain(value), sort_keys=True) for value in (ours, core))
    return one == other


def _plain(value: Any) -> Any:
    """The value with `1.0` as `1`, which JavaScript cannot tell apart."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return value


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
