"""What the traits of a runtime leave out of every comparison with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from harness.cassette.find import CassetteFile
from harness.cassette.load import load_cassette
from harness.cassette.needs import FEATURES
from harness.doctor.checks import Found, Outcome
from harness.errors import CassetteError
from harness.parity.divergence import ChannelName
from harness.replay.settings import missing_features
from harness.wording import counted
from runtimes.contract import RuntimeTraits

__all__ = ["found_by_traits"]

_COSTS: Final = {
    ChannelName.REQUESTS: "what is sent to the model",
    ChannelName.PROVIDER: "requests that the real API would refuse",
    ChannelName.RETRIES: "waits and attempts after failures",
    ChannelName.TOOL_STATES: "the states of calls: validation, confirmation, execution",
    ChannelName.PROGRESS: "what calls show while they work",
    ChannelName.CHILDREN: "the work of subagents",
    ChannelName.WORKSPACE: "files that tools change",
    ChannelName.CUSTOM: "effects of tools that no event shows, such as rows and e-mails",
    ChannelName.TRANSCRIPT: "the history at the end; requests show it up to the last one",
    ChannelName.RECORDING: "the chat file from which a session is resumed",
    ChannelName.EVENTS: "what a client of the agent sees",
    ChannelName.COST: "calls of the model and tokens",
}
"""Channel → what it compares. Those of surfaces are not here: a side names its surface."""


def found_by_traits(traits: RuntimeTraits, corpus: Sequence[CassetteFile]) -> list[Found]:
    """Return what the traits say about channels, features and confinement."""
    return [*_channels(traits), _features(traits, corpus), _confinement(traits)]


def _channels(traits: RuntimeTraits) -> list[Found]:
    shown: list[ChannelName] = []
    lacking: list[ChannelName] = []
    for name in _COSTS:
        known = traits.channels is None or name.value in traits.channels
        has = known and (name is not ChannelName.CUSTOM or bool(traits.custom))
        (shown if has else lacking).append(name)
    says = f"compares {', '.join(shown)}"
    if traits.custom:
        says += f" ({', '.join(sorted(traits.custom))})"
    found = [Found(name="channels", outcome=Outcome.WORKS, says=says)]
    return found + [
        Found(name=name.value, outcome=Outcome.LACKS, says="it does not show it", cost=_COSTS[name])
        for name in lacking
    ]


def _features(traits: RuntimeTraits, corpus: Sequence[CassetteFile]) -> Found:
    lacking = [] if traits.features is None else sorted(FEATURES.keys() - traits.features)
    if not lacking:
        return Found(name="features", outcome=Outcome.WORKS, says="it has all of the product's")
    needed: Counter[str] = Counter()
    unplayable = 0
    for file in corpus:
        missing = _missing(file, traits)
        needed.update(missing)
        unplayable += bool(missing)
    first = [name for name, _ in needed.most_common(5)] or lacking[:5]
    more = f" and {len(lacking) - len(first)} more" if len(lacking) > len(first) else ""
    cost = f"{unplayable} of {counted(len(corpus), 'cassette')} here cannot be played"
    says = f"it has no {', '.join(first)}{more}"
    return Found(name="features", outcome=Outcome.LACKS, says=says, cost=cost)


def _missing(file: CassetteFile, traits: RuntimeTraits) -> Sequence[str]:
    try:
        return missing_features(load_cassette(file.path, file.root), traits.features)
    except CassetteError:  # `parity check` reports it, or it is recorded traffic
        return ()


def _confinement(traits: RuntimeTraits) -> Found:
    if traits.confinable:
        says = "it acts only through its services"
        return Found(name="confinement", outcome=Outcome.WORKS, says=says)
    return Found(
        name="confinement",
        outcome=Outcome.LACKS,
        says="it acts by itself",
        cost="cassettes of others need --trust; those of the project `trust = true` in parity.toml",
    )
