"""`Recorder`: observes a run of the headless agent and writes a cassette of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from agent_protocol.codec import content_part_to_wire
from agent_protocol.content import ContentPart, TextPart
from agent_protocol.events import AgentEnd, AgentEvent
from harness.cassette.document import MAX_BYTES
from harness.cassette.dump import dump_yaml
from harness.cassette.format import FORMAT_VERSIONS
from harness.cassette.load import build_cassette
from harness.cassette.problems import FormatProblem
from harness.cassette.trust import starts_processes
from harness.errors import UsageError
from harness.live.requests import request_lines, requests_file
from harness.live.secrets import Scrubber
from harness.live.seed import Seed, read_home, read_seed
from harness.live.settings import session_settings
from harness.live.tape import Tape, TapingContentGenerator
from harness.replay.observation import RunPaths
from services.clock import Clock, iso_timestamp
from services.model.errors import FatalInputError
from services.model.generator import ContentGenerator
from services.private_files import write_private
from services.regular_files import read_regular
from services.state import ApprovalMode
from services.wire import Json, JsonObject, js_json
from surfaces.headless.witness import RunFacts

__all__ = ["Recorded", "Recorder"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A cassette that was written, with remarks for the user."""

    file: Path
    requests: Path
    steps: int
    files: int
    interrupted: bool
    needs_trust: bool
    remarks: list[str]


@dataclass(slots=True)
class _Seen:
    """What is known of a run before it asks its first question, and what it has done since."""

    facts: RunFacts
    scrubber: Scrubber
    tape: Tape
    seed: Seed
    home: Seed
    resumed: JsonObject | None
    prompt: str = ""
    content: tuple[ContentPart, ...] = ()
    events: int = 0
    aborted: bool = False
    remarks: list[str] = field(default_factory=list)


class Recorder:
    """Records one run of the headless agent, as the run's witness.

    Args:
        file: The cassette that `write` makes. Its name is that of its folder and its own.
        runtime: Which runtime was asked for, for the record.
        variables: The environment, whose secrets are kept out.
        clock: Says when this was.
        with_files: Whether the workspace's files are part of it.
        note: One line about the cassette.
    """

    def __init__(
        self,
        file: Path,
        *,
        runtime: str | None,
        variables: Mapping[str, str],
        clock: Clock,
        with_files: bool = True,
        note: str = "",
    ) -> None:
        self._file = file.absolute()
        self._runtime = runtime
        self._variables = variables
        self._clock = clock
        self._with_files = with_files
        self._note = note
        self._seen: _Seen | None = None

    def begins(self, facts: RunFacts) -> None:
        """Read the files that the run begins with.

        Raises:
            FatalInputError: they cannot be read, or are too many.
        """
        workspace = facts.workspace
        scrubber = Scrubber(self._variables, workspace)
        own = (self._file, requests_file(self._file))
        try:
            seed = read_seed(workspace.root, scrubber, without=own) if self._with_files else Seed()
            home = read_home(workspace.home, scrubber)
        except UsageError as error:
            raise FatalInputError(str(error)) from error
        self._seen = _Seen(
            facts=facts,
            scrubber=scrubber,
            tape=Tape(RunPaths(workspace=str(workspace.root), home=str(workspace.home))),
            seed=seed,
            home=home,
            resumed=_resumed(facts.resumed),
        )

    def model(self, generator: ContentGenerator) -> ContentGenerator:
        """The model, with everything that it answers kept."""
        return TapingContentGenerator(generator, self._run.tape)

    def sends(self, prompt: str, content: tuple[ContentPart, ...]) -> None:
        """What the cassette's script sends."""
        self._run.prompt = prompt
        self._run.content = content

    def saw(self, event: AgentEvent) -> None:
        """Events are counted: an interruption is put after as many of them."""
        self._run.events += 1
        if isinstance(event, AgentEnd) and event.reason == "aborted":
            self._run.aborted = True

    def write(self, *, interrupted: bool) -> Recorded | None:
        """Write the cassette and the requests beside it; `None` where there is nothing to keep.

        Nothing is kept of a run in which the API answered nothing: see `nothing`.

        Args:
            interrupted: Whether the user ended the run.

        Raises:
            UsageError: a file cannot be written, what was recorded is no cassette, or a secret is
                left in it that no mask can cover. Then nothing is written.
        """
        seen = self._seen
        stopped = interrupted or (seen is not None and seen.aborted)
        if seen is None or not seen.tape.steps or not seen.tape.answered:
            return None
        document: JsonObject = seen.scrubber.value(self._document(seen, stopped))
        name = document["name"]
        try:
            cassette = build_cassette(json.loads(js_json(document)), self._file)
        except FormatProblem as problem:
            raise UsageError(
                f"what was recorded is no cassette: {problem}", "record without what it names"
            ) from problem
        requests = requests_file(self._file)
        asked: list[Json] = seen.scrubber.value(list(request_lines(seen.tape.requests)))
        seen.scrubber.refuse_remains(document, self._file.name)
        seen.scrubber.refuse_remains(asked, requests.name)
        _write(
            {
                requests: "".join(f"{js_json(line)}\n" for line in asked),
                self._file: f"# Recorded by `parity record`: {name}\n{dump_yaml(document)}",
            }
        )
        return Recorded(
            file=self._file,
            requests=requests,
            steps=len(seen.tape.steps),
            files=len(seen.seed.files),
            interrupted=stopped,
            needs_trust=starts_processes(cassette) is not None,
            remarks=seen.remarks,
        )

    @property
    def nothing(self) -> str:
        """Why `write` keeps nothing, in half a sentence."""
        asked = self._seen is not None and self._seen.tape.steps
        return "the model's API answered nothing" if asked else "nothing was asked of a model"

    @property
    def _run(self) -> _Seen:
        assert self._seen is not None, "a run begins before anything else"
        return self._seen

    def _document(self, seen: _Seen, stopped: bool) -> JsonObject:
        plan, scrubber = seen.facts.plan, seen.scrubber
        settings, lost = session_settings(plan.document)
        session: JsonObject = {"model": plan.model}
        if plan.approval_mode is not ApprovalMode.DEFAULT:
            session["approval_mode"] = plan.approval_mode.name.lower()
        session["settings"] = scrubber.settings(settings)
        document: JsonObject = {
            "cassette": FORMAT_VERSIONS[-1],
            "name": f"{self._file.parent.name}/{self._file.stem}",
            "note": self._note or f"recorded: {' '.join(scrubber.text(seen.prompt).split())[:70]}",
            "phase": "A",
            "provenance": {
                "kind": "recorded",
                "source": f"parity agent ({self._runtime or 'by settings'}), {_answerer(seen)}",
                "recorded_at": iso_timestamp(self._clock.now_ms()),
            },
            "session": session,
        }
        if seen.seed.files:
            document["files"] = seen.seed.files
        if seen.home.files:
            document["home_files"] = seen.home.files
        if seen.resumed is not None:
            document["resume"] = scrubber.value(seen.resumed)
        document["script"] = [{"send": scrubber.value(_payload(seen))}]
        if stopped:
            document["during"] = [{"when": _moment(seen), "do": "abort"}]
        document["model"] = [scrubber.value(step.document()) for step in seen.tape.steps]
        seen.remarks = [
            *(f"left out: the setting {key}, for which cassettes have no place" for key in lost),
            *(
                f"left out: {name}, which may hold secrets"
                for name in (*seen.seed.left_out, *seen.home.left_out)
            ),
        ]
        return document


def _answerer(seen: _Seen) -> str:
    auth = seen.facts.source.auth
    if auth is None:
        return "recorded answers"
    if auth.base_url:
        # Of an address only the host: the rest may hold a name and a password.
        return f"the gateway {urlsplit(auth.base_url).hostname}"
    return "Vertex AI" if auth.vertexai else "the Gemini API"


def _payload(seen: _Seen) -> Json:
    """The text alone, where nothing else was sent."""
    if seen.content == (TextPart(text=seen.prompt),):
        return seen.prompt
    parts = [content_part_to_wire(part) for part in seen.content]
    return {"content": parts, "display_content": seen.prompt}


def _moment(seen: _Seen) -> JsonObject:
    """When a run was interrupted, in the words of a cassette."""
    last = len(seen.tape.steps) - 1
    pending = seen.tape.pending
    if pending is None:
        return {"events": max(seen.events - 1, 1)}
    if pending.chunks:
        return {"chunk": f"{last}:{len(pending.chunks) - 1}"}
    return {"request": last}


def _resumed(file: Path | None) -> JsonObject | None:
    """The lines of the recording that is gone on from, as they are before the run."""
    if file is None:
        return None
    try:
        text = read_regular(file, MAX_BYTES).decode("utf-8", "replace")
    except OSError as error:
        raise FatalInputError(f"{file}: cannot be read: {error.strerror}") from error
    records: list[Json] = []
    for line in text.split("\n"):
        # A runtime that resumes the session ignores a truncated line, too.
        with suppress(ValueError):
            record = json.loads(line)
            if isinstance(record, dict):
                records.append(record)
    return {"records": records, "file": file.name}


def _write(texts: Mapping[Path, str]) -> None:
    """Write all of the files, or none."""
    drafts = {file: file.with_name(f"{file.name}.part") for file in texts}
    new = [file for file in texts if not file.exists()]
    file = next(iter(texts))
    try:
        for file, draft in drafts.items():
            write_private(draft, texts[file].encode("utf-8", "replace"), draft=True)
        for file, draft in drafts.items():
            draft.replace(file)
    except BaseException as error:
        for left in (*drafts.values(), *new):
            with suppress(OSError):
                left.unlink(missing_ok=True)
        if not isinstance(error, OSError):
            raise
        problem = f"{file}: cannot be written: {error.strerror}"
        raise UsageError(problem, "choose another file with --out") from error
