"""Evidence that a gate says yes to, made up; a test takes one thing out of it or spoils it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any

from harness.coverage.behaviour import Behaviour, BehaviourClass
from harness.coverage.contract import Contract
from harness.coverage.expression import parse_probes
from harness.experiment.case import Skipped
from harness.gate.answer import GateAnswer, ReasonKind
from harness.gate.evidence import read_evidence
from harness.gate.gates import Gates, parse_gates
from harness.gate.judge import judge
from harness.gate.scope import Scope
from harness.inventory import CODE, Component, Inventory
from harness.parity.divergence import ChannelName, Divergence, Kind
from harness.parity.verdict import CaseResult
from harness.parity.waivers import Waivers
from harness.report.journal import Journal, JournalHeader
from harness.scenarios.profiles import PROFILES
from services.wire import JsonObject

DAY = date(2026, 3, 1)
NAMES = ("a/one", "a/two", "a/three")
LEGS = {
    "core": ("upstream", "legacy"),
    "adk": ("legacy", "adk"),
    "back": ("legacy+legacy", "adk+legacy"),
}
"""File of a leg to its sides."""

GATES = """
format = 1
corpus = ["cassettes"]

[signing]
threshold = 1

[phase.A]
title = "non-interactive"
cassettes = ["A"]
reached_in = "legacy ≡ adk"
fault_classes = ["tools"]

[phase.A.classes]
tools = 2

[[phase.A.leg]]
name = "upstream ≡ legacy"
control = "upstream"
candidate = "legacy"
min_cases = 3

[[phase.A.leg]]
name = "legacy ≡ adk"
control = "legacy"
candidate = "adk"
min_cases = 3

[[phase.A.leg]]
name = "begun in adk"
control = "legacy+legacy"
candidate = "adk+legacy"
min_cases = 1

[phase.A.pull_request]
max_age_days = 3
baselines = true
recordings_days = 365
kills = { faults = 4, bound = 0.4, class_faults = 4, class_bound = 0.4 }
mutants = [{ part = "services", sample = 8, bound = 0.4, cases = 2 }]
sample = [{ profile = "fallback", examples = 100 }]
waivers = { most = 2 }
cost = [{ leg = "legacy ≡ adk", model_calls = 1.0, tokens = 1.5, prefix_stability = 0.9 }]

[phase.A.release]
max_age_days = 1
baselines = false
recordings_days = 365
kills = { faults = 4, bound = 0.4, class_faults = 4, class_bound = 0.4, held_out = 0.2 }
mutants = [{ part = "services", sample = 8, bound = 0.4 }]
sample = [{ profile = "fallback", examples = 100 }]
waivers = { most = 2 }
cost = [{ leg = "legacy ≡ adk", model_calls = 1.0, tokens = 1.5, prefix_stability = 0.9 }]
"""

COST: JsonObject = {
    "modelCalls": {"generateContentStream(main)": 2},
    "tokens": {"inputTokens": 10, "outputTokens": 5, "cachedTokens": 0},
    "contentsSent": 10,
    "contentsSentBefore": 8,
}


def gates(**changes: tuple[str, str]) -> Gates:
    """The gates above, with texts in them replaced: each of `changes` is (old, new)."""
    text = GATES
    for old, new in changes.values():
        assert old in text
        text = text.replace(old, new)
    return parse_gates(text.encode(), "gates.toml")


def contract() -> Contract:
    return Contract(
        behaviours=[
            Behaviour(
                id=number,
                phase="A",
                behaviour_class=BehaviourClass.TOOLS,
                title="what holds",
                probes=parse_probes(probe),
                source="somewhere",
            )
            for number, probe in (("P-001", "tool:one"), ("P-002", "tool:two"))
        ]
    )


def inventory(**changes: Component) -> Inventory:
    """What is here now; a component by its name with `_` for a space."""
    parts = {name: Component({f"{name}/file.py": "1" * 64}) for name in CODE}
    parts |= {
        "fault catalogue": Component({"services/faults/a.py": "2" * 64}),
        "corpus": Component(dict.fromkeys(NAMES, "3" * 64)),
        "baselines": Component({"here/a/one.json": "4" * 64}),
        "waivers": Component({"waivers.toml": "5" * 64}),
        "gates": Component({"gates.toml": "6" * 64}),
        "contract": Component({"contract.md": "7" * 64}),
        "distributions": Component({"click": "8.1"}),
    }
    return Inventory(parts | {name.replace("_", " "): each for name, each in changes.items()})


def divergence(name: str, path: str = "text") -> Divergence:
    return Divergence(
        cassette=name,
        channel=ChannelName.EVENTS,
        kind=Kind.CHANGED,
        path=path,
        control="a",
        candidate="b",
        control_index=0,
        candidate_index=0,
        label="message",
    )


def result(name: str, sides: tuple[str, str], **changes: Any) -> CaseResult:
    seen = ("tool:one", "tool:two")
    values: dict[str, Any] = {
        "cassette": name,
        "runtimes": sides,
        "phase": "A",
        "contract": ("P-001", "P-002"),
        "reached": (seen, seen),
        "cost": (COST, COST),
        "digests": ("d" * 64, "d" * 64),
    }
    return CaseResult(**(values | changes))


@dataclass
class LegFile:
    """A journal that is to be written."""

    control: str
    candidate: str
    results: dict[str, CaseResult]
    skipped: tuple[str, ...] = ()
    ended: bool = True
    header: dict[str, Any] = field(default_factory=dict)
    inventory: Inventory = field(default_factory=inventory)

    def write(self, file: Path) -> None:
        values: dict[str, Any] = {
            "control": self.control,
            "candidate": self.candidate,
            "as_of": DAY.isoformat(),
            "started_at": f"{DAY.isoformat()}T10:00:00+00:00",
            "components": self.inventory.digests,
            "environment": {"python": "3.11", "google-adk": "2.13.0"},
        }
        header = JournalHeader(**(values | self.header))
        with Journal(file, header, self.inventory) as journal:
            for name in self.skipped:
                journal.started(name)
                journal.outcome(name, Skipped())
            for name, each in self.results.items():
                journal.started(name)
                journal.outcome(name, each, 1.0)
            if self.ended:
                journal.ended()


def measured(**changes: Any) -> JsonObject:
    facts = {
        "asOf": DAY.isoformat(),
        "components": inventory().digests,
        "environment": {"python": "3.11"},
    }
    return facts | changes


def fault(number: int, **changes: Any) -> JsonObject:
    facts = {
        "name": f"fault-{number}",
        "site": "adk",
        "class": "tools",
        "outcome": "killed",
        "heldOut": number % 2 == 0,
        "closedBy": None,
    }
    return facts | changes


def kills(faults: Sequence[JsonObject] | None = None, **changes: Any) -> JsonObject:
    rows = [fault(number) for number in range(8)] if faults is None else list(faults)
    conditions = {"cassettes": 3, "sample": None, "measured": measured()}
    facts = {
        "kills": 2,
        "faults": rows,
        "conditions": conditions | changes.pop("conditions", {}),
        "planned": len(rows),
        "interrupted": False,
    }
    return facts | changes


def mutants(survived: int = 1, tried: int = 8, **changes: Any) -> JsonObject:
    rows = [
        {"fingerprint": f"{n:012x}", "outcome": "survived" if n < survived else "found"}
        for n in range(tried)
    ]
    facts = {
        "mutants": 1,
        "seed": 8,
        "in": ["services"],
        "all": {"tried": tried, "found": tried - survived},
        "sample": rows,
        "interrupted": False,
        "measured": measured(),
    }
    return facts | changes


def sample(**changes: Any) -> JsonObject:
    facts = {
        "generation": 1,
        "way": "sample",
        "profile": "fallback",
        "profileDigest": PROFILES["fallback"].digest,
        "seed": 7,
        "control": "legacy",
        "candidate": "adk",
        "fault": None,
        "verdict": "nothing found",
        "interrupted": False,
        "drawn": 120,
        "findings": [],
        "known": [],
        "unsettled": {},
        "command": "parity generate --sample --profile fallback --seed 7",
        "measured": measured(),
    }
    return facts | changes


@dataclass
class World:
    """All that a gate looks at. `judged` writes the evidence and asks."""

    legs: dict[str, LegFile] = field(default_factory=dict)
    kills: JsonObject | None = field(default_factory=kills)
    mutants: list[JsonObject] = field(default_factory=lambda: [mutants()])
    samples: list[JsonObject] = field(default_factory=lambda: [sample()])
    waivers: Waivers = field(default_factory=lambda: Waivers(as_of=DAY))
    gates: Gates = field(default_factory=gates)
    current: Inventory = field(default_factory=inventory)
    contract: Contract = field(default_factory=contract)
    as_of: date = DAY
    profile: str = "pull_request"
    environment: Mapping[str, str] = field(
        default_factory=lambda: {"python": "3.12", "google-adk": "2.13.0"}
    )

    def change_case(self, leg: str, name: str, **changes: Any) -> None:
        """Replace something of a case's result."""
        cases = self.legs[leg].results
        cases[name] = replace(cases[name], **changes)

    def write(self, folder: Path) -> None:
        """Leave the evidence in `folder`."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, leg in self.legs.items():
            leg.write(folder / f"{name}.jsonl")
        if self.kills is not None:
            (folder / "kills.json").write_text(json.dumps(self.kills))
        for number, each in enumerate(self.mutants):
            (folder / f"mutants-{number}.json").write_text(json.dumps(each))
        for number, each in enumerate(self.samples):
            (folder / f"sample-{number}.json").write_text(json.dumps(each))

    def scope(self, folder: Path, **given: Any) -> Scope:
        """The scope over evidence that was written; `given` are further fields."""
        return Scope(
            evidence=read_evidence([folder]),
            policy=self.gates,
            phase="A",
            profile=self.profile,
            as_of=self.as_of,
            current=self.current,
            waivers=self.waivers,
            contract=self.contract,
            environment=self.environment,
            **given,
        )

    def judged(self, folder: Path, /, **given: Any) -> GateAnswer:
        """Write the evidence, and return the gate's answer; `given` are fields of the scope."""
        self.write(folder)
        return judge(self.scope(folder, **given))


def world() -> World:
    """One that a gate says yes to."""
    made = World()
    for name, sides in LEGS.items():
        handed = "+" in sides[0]
        ran = NAMES[:1] if handed else NAMES
        made.legs[name] = LegFile(
            *sides,
            results={each: result(each, sides) for each in ran},
            skipped=NAMES[1:] if handed else (),
        )
    return made


def kinds(answer: GateAnswer) -> set[ReasonKind]:
    return {reason.kind for reason in answer.reasons}


Spoil = Callable[[World], object]


def spoiled(spoil: Spoil) -> World:
    made = world()
    spoil(made)
    return made


def facts_of(answer: GateAnswer) -> Mapping[str, str]:
    """What a condition is about to what was seen."""
    return {condition.about: condition.says for condition in answer.conditions}
