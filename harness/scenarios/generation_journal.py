"""The journal of a generated run: a header, then lines for blocks and findings.

Lines are flushed as they are written, so a killed run loses only the blocks in progress. The same
command with `--resume` draws those again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from harness.errors import UsageError
from harness.journal_lock import JournalLock
from harness.json_lines import JsonLines, changed
from harness.scenarios.block import BlockDone
from harness.scenarios.generation import Generation, GenerationPlan, Outcome, Shrinking
from services.private_files import open_private
from services.wire import JsonObject

__all__ = ["JOURNALS", "GenerationJournal", "last_seed"]

JOURNALS: Final = Path(".parity") / "generate"
"""The folder of the journals."""

_FORMAT: Final = 1
_ANEW: Final = "run without --resume to begin anew"


class GenerationJournal(JsonLines):
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
            UsageError: it is not writable, another process writes to it, or, with `resume`, it is
                no journal or that of another run.
            ReplayFailure: the disk is full.
        """
        self.file = folder / f"{plan.digest}.jsonl"
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
        with ExitStack() as undone:
            try:
                folder.mkdir(parents=True, exist_ok=True)
                lock = JournalLock(self.file)
                undone.callback(lock.release)
                self.resumed = resume and self.file.exists()
                if self.resumed:
                    os.truncate(self.file, self._read_back(header))
                stream = open_private(self.file, "a" if self.resumed else "w", encoding="utf-8")
            except OSError as error:
                problem = f"the journal {self.file} cannot be written: {error.strerror}"
                raise UsageError(problem, "run in a folder that can be written to") from error
            undone.callback(stream.close)
            super().__init__(stream, lock)
            if not self.resumed:
                self._write(header)
            undone.pop_all()

    def block(self, done: BlockDone, elapsed_s: float) -> None:
        """Write the result of a block, and the seconds of drawing."""
        self._write({"block": done.to_json(), "elapsedS": round(elapsed_s, 3)})

    def outcome(self, fingerprint: str, outcome: Outcome) -> None:
        """Write the outcome of running a finding again."""
        self._write({"outcome": fingerprint, **outcome.to_json()})

    def shrunk(self, fingerprint: str, shrunk: Shrinking) -> None:
        """Write the outcome of shrinking a finding."""
        self._write({"shrunk": fingerprint, **shrunk.to_json()})

    def _read_back(self, header: JsonObject) -> int:
        """Read the journal; returns its length up to the last whole line."""
        text = self.file.read_bytes()
        whole = text[: text.rfind(b"\n") + 1]
        lines = whole.splitlines()
        if not lines:
            raise UsageError(f"{self.file}: has no header", _ANEW)
        for number, raw in enumerate(lines, 1):
            try:
                line = json.loads(raw)
                if number == 1:
                    self._check(line, header)
                else:
                    self._take(line)
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                problem = f"{self.file}: line {number} is not such a journal's: {error}"
                raise UsageError(problem, _ANEW) from error
        return len(whole)

    def _check(self, line: JsonObject, header: JsonObject) -> None:
        if line.get("generation") != _FORMAT:
            raise ValueError(f"format {line.get('generation')!r}; this build reads {_FORMAT}")
        was, now = line.pop("versions"), dict(header)
        found = [*changed(was, now.pop("versions")), *changed(line, now)]
        if found:
            raise UsageError(f"{self.file}: belongs to another run: {'; '.join(found)}", _ANEW)

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
