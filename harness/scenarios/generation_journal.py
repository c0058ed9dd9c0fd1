"""The journal of a generated run: a header, then lines for blocks and findings."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from harness.json_lines import changed
from harness.resumable_journal import ResumableJournal
from harness.scenarios.block import BlockDone
from harness.scenarios.generation import Generation, GenerationPlan, Outcome, Shrinking
from services.wire import JsonObject

__all__ = ["JOURNALS", "GenerationJournal", "last_seed"]

JOURNALS: Final = Path(".parity") / "generate"
"""The folder of the journals."""

_FORMAT: Final = 1


class GenerationJournal(ResumableJournal):
    """A journal that is being written. Use as a context manager."""

    def __init__(
        self,
        folder: Path,
        plan: GenerationPlan,
        versions: Mapping[str, str],
        *,
        resume: bool = False,
    ) -> None:
        """Open the journal of `plan`; `resume` continues it.

        Raises:
            UsageError, ReplayFailure: see `ResumableJournal`.
        """
        self.generation = Generation()
        """The results before it was resumed."""
        self.elapsed_s = 0.0
        """Seconds of drawing before it was resumed."""
        header: JsonObject = {
            "generation": _FORMAT,
            **plan.facts,
            "waivers": plan.waivers.digest,
            "asOf": plan.waivers.as_of.isoformat(),
            "versions": dict(versions),
        }
        super().__init__(folder / f"{plan.digest}.jsonl", header, resume=resume)

    def block(self, done: BlockDone, elapsed_s: float) -> None:
        """Write the result of a block, and the seconds of drawing."""
        self._write({"block": done.to_json(), "elapsedS": round(elapsed_s, 3)})

    def outcome(self, fingerprint: str, outcome: Outcome) -> None:
        """Write the outcome of running a finding again."""
        self._write({"outcome": fingerprint, **outcome.to_json()})

    def shrunk(self, fingerprint: str, shrunk: Shrinking) -> None:
        """Write the outcome of shrinking a finding."""
        self._write({"shrunk": fingerprint, **shrunk.to_json()})

    def _differing(self, was: JsonObject, now: JsonObject) -> list[str]:
        if was.get("generation") != _FORMAT:
            raise ValueError(f"format {was.get('generation')!r}; this build reads {_FORMAT}")
        rest = {key: now[key] for key in now if key != "versions"}
        return [*changed(was.pop("versions"), now["versions"]), *changed(was, rest)]

    def _take(self, line: JsonObject) -> None:
        if "block" in line:
            self.generation.add(BlockDone.from_json(line["block"]))
            self.elapsed_s = max(self.elapsed_s, float(line["elapsedS"]))
        elif "outcome" in line:
            self.generation.outcomes[line["outcome"]] = Outcome.from_json(line)
        elif "shrunk" in line:
            self.generation.shrunk[line["shrunk"]] = Shrinking.from_json(line)
        else:
            raise ValueError("it is about no block and no finding")


def last_seed(folder: Path, plan: GenerationPlan) -> int | None:
    """The seed of the last run with `plan`, whatever its seed; `None` without one.

    Unreadable journals are ignored.
    """
    wanted = {key: value for key, value in plan.facts.items() if key != "seed"}
    found: list[tuple[int, int]] = []
    for file in folder.glob("*.jsonl") if folder.is_dir() else ():
        try:
            with file.open("rb") as stream:
                header = json.loads(stream.readline())
            if all(header.get(key) == value for key, value in wanted.items()):
                found.append((file.stat().st_mtime_ns, int(header["seed"])))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            continue
    return max(found)[1] if found else None
