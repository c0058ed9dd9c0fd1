"""Journals made up for tests."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from harness.inventory import Component, Inventory
from harness.journal_header import JournalHeader
from harness.parity.divergence import ChannelName, Divergence, Kind
from harness.parity.verdict import CaseResult
from harness.report.journal import Journal

NAMES = ("a/one", "a/three", "a/two", "b/four")
INVENTORY = Inventory(
    {
        "agent_protocol": Component({"agent_protocol/x.py": "1" * 64}),
        "services": Component({"services/retry.py": "2" * 64, "services/x.py": "3" * 64}),
        "runtimes": Component({"runtimes/x.py": "4" * 64}),
        "surfaces": Component(),
        "harness": Component({"harness/x.py": "5" * 64}),
        "fault catalogue": Component({"harness/faults/catalogue/x.py": "6" * 64}),
        "corpus": Component(dict.fromkeys(NAMES, "7" * 64)),
        "waivers": Component({"waivers.toml": "8" * 64}, {"W-1": "9" * 64}),
        "distributions": Component({"click": "8.1.0", "google-adk": "2.13.0"}),
    }
)
HEADER = JournalHeader(
    control="legacy",
    candidate="adk",
    as_of="2026-06-01",
    components=INVENTORY.digests,
    environment={"python": "CPython 3.11.7", "google-adk": "2.13.0"},
    started_at="2026-06-01T08:00:00+00:00",
    revision="a" * 40,
)
RESULT = CaseResult(cassette="a/one", digests=("1", "1"))
DIVERGENT = CaseResult(
    cassette="a/two",
    digests=("1", "2"),
    divergences=(
        Divergence(
            cassette="a/two",
            channel=ChannelName.EVENTS,
            kind=Kind.MISSING,
            label="usage",
            control_index=4,
            control={"inputTokens": 10},
        ),
    ),
)


def with_files(component: str, **files: str) -> Inventory:
    """The inventory with other files in one component; `__` stands for `/` and `.py` is added."""
    named = {f"{name.replace('__', '/')}.py": digest * 64 for name, digest in files.items()}
    return Inventory({**INVENTORY.components, component: Component(named)})


def write_journal(
    file: Path,
    results: Iterable[CaseResult] = (RESULT,),
    *,
    header: JournalHeader = HEADER,
    inventory: Inventory = INVENTORY,
    in_flight: str | None = None,
    ended: bool = False,
) -> Path:
    """A journal with these results; its header has the digests of the inventory."""
    header = replace(header, components=inventory.digests)
    with Journal(file, header, inventory) as journal:
        for result in results:
            journal.started(result.cassette)
            journal.outcome(result.cassette, result, 12.34)
        if in_flight is not None:
            journal.started(in_flight)
        if ended:
            journal.ended()
    return file
