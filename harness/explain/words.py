"""The words of an explanation: what each channel is, for someone who sees it the first time."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from harness.canonical import printable
from harness.parity.divergence import ABSENT, ChannelName
from services.wire import Json

__all__ = ["CHANNELS", "ChannelWords", "cut", "ordinal", "shown"]

_SHOWN: Final = 260


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelWords:
    """How one channel is spoken of."""

    about: str
    """What it holds, in plain words; stands in `the first difference is in …`."""
    did: str
    """What a side did that has an item: `asked`."""
    item: str
    """One item of it, for counting: `question`."""
    cannot: str
    """Why both sides cannot be right where an item differs."""


CHANNELS: Final = {
    ChannelName.REQUESTS: ChannelWords(
        about="what the model was asked",
        did="asked",
        item="question to the model",
        cannot="Up to there both had been through the same; that cannot lead to both questions.",
    ),
    ChannelName.PROVIDER: ChannelWords(
        about="what the model's API has against a question",
        did="asked",
        item="question to the model",
        cannot="The API takes such a question as it is or refuses it, whoever asks.",
    ),
    ChannelName.RETRIES: ChannelWords(
        about="retries, and changes of model or mode",
        did="reported",
        item="report",
        cannot="Both had met the same answers and failures; only one reaction can be meant.",
    ),
    ChannelName.TOOL_STATES: ChannelWords(
        about="the way of a tool call from being asked for to its end",
        did="made",
        item="call",
        cannot="The model had asked both for the same; a call can go only one way.",
    ),
    ChannelName.WORKSPACE: ChannelWords(
        about="the files that the run left behind",
        did="left",
        item="file",
        cannot="The same work cannot leave two different files.",
    ),
    ChannelName.TRANSCRIPT: ChannelWords(
        about="what is remembered of the conversation at the end",
        did="remembered",
        item="turn of the conversation",
        cannot="Both had asked the model the same; the next question would no longer be the same.",
    ),
    ChannelName.RECORDING: ChannelWords(
        about="the recording of the chat on disk",
        did="recorded",
        item="line of the recording",
        cannot="One conversation was recorded in two ways; read back it would be two.",
    ),
    ChannelName.CHILDREN: ChannelWords(
        about="what child agents told of their work",
        did="told",
        item="telling of a child agent",
        cannot="Both agents had been asked and answered alike; their work can be told in one way.",
    ),
    ChannelName.EVENTS: ChannelWords(
        about="what the client was told",
        did="emitted",
        item="event",
        cannot="The same happened in both runs, and a client is told two different stories of it.",
    ),
    ChannelName.COST: ChannelWords(
        about="what the run cost",
        did="spent",
        item="sum",
        cannot="The same work cannot have two prices.",
    ),
}
"""Every channel's words."""

_ORDINALS: Final = (
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
)


def ordinal(index: int) -> str:
    """`first` for 0, `14th` for 13."""
    if index < len(_ORDINALS):
        return _ORDINALS[index]
    number = index + 1
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number % 100 in (11, 12, 13) else ending}"


def shown(value: Json) -> str:
    """A value in short: a text in quotes, anything else as JSON, nothing as `nothing`."""
    if value == ABSENT:
        return "nothing"
    return cut(json.dumps(value, sort_keys=True, ensure_ascii=False))


def cut(text: str, room: int = _SHOWN) -> str:
    """`text` on one line, printable, with at most `room` characters."""
    text = printable(text)
    return text if len(text) <= room else f"{text[: room - 1]}…"
