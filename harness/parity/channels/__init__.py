"""The channels in causal order: `harness/parity/channels/<name>.py` for each `ChannelName`."""

from __future__ import annotations

from importlib import import_module
from typing import Final

from harness.parity.channel import Channel
from harness.parity.divergence import ChannelName

__all__ = ["CHANNELS", "channel_of"]


def _loaded(name: ChannelName) -> Channel:
    channel: Channel = import_module(f"{__name__}.{name.value}").CHANNEL
    return channel


CHANNELS: Final = tuple(map(_loaded, ChannelName))
"""All channels, causes before symptoms: first the requests to the model."""

_BY_NAME: Final = {channel.name: channel for channel in CHANNELS}


def channel_of(name: ChannelName) -> Channel:
    """The channel of this name."""
    return _BY_NAME[name]
