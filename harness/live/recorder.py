"""`Recorder`: observes a run of the headless agent and writes a cassette of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar
from urllib.parse import urlsplit

from agent_protocol.content import ContentPart
from agent_protocol.events import AgentEnd, AgentEvent
from harness.cassette.document import MAX_BYTES
from harness.cassette.dump import dump_yaml
from harness.cassette.format import FORMAT_VERSIONS
from harness.cassette.load import build_cassette
from harness.cassette.problems import FormatProblem
from harness.cassette.trust import starts_processes
from harness.errors import UsageError
from harness.live.actions import Actions
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
    """A written cassette, with remarks for the user."""

    file: Path
    requests: Path
    steps: int
    files: int
    interrupted: bool
    needs_trust: bool
    remarks: list[str]


@dataclass(slots=True)
class _Seen:
    """The facts of a run: its setup before the first model request, and its actions since."""

    facts: RunFacts
    scrubber: Scrubber
    tape: Tape
    seed: Seed
    home: Seed
    resumed: JsonObject | None
    actions: Actions
    remarks: list[str] = field(default_factory=list)


class Recorder:
    """Records one run of the agent, as the run's witness.

    Args:
        file: The cassette that `write` makes. Its name is that of its folder and its own.
        runtime: Which runtime was asked for, for the record.
        variables: The environment, whose secrets are kept out.
        clock: Says when this was.
        with_files: Whether the workspace's files are part of it.
        note: One line about the cassette.
    """

    interactive: ClassVar[bool] = False
    """Whether the run has a user who answers questions."""

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
        """Read the initial files of the run.

        Raises:
            FatalInputError: they cannot be read, or are too many.
        """
        workspace = facts.workspace
        scrubber = Scrubber(self._variables, workspace)
        own = (self._file, requests_file(self._file))
        tape = Tape(RunPaths(workspace=str(workspace.root), home=str(workspace.home)))
        actions = Actions(tape)
        seed, home = Seed(), Seed()
        try:
            if self._with_files:
                seed = read_seed(workspace.root, scrubber, without=own)
            home = read_home(workspace.home, scrubber)
        except UsageError as error:
            actions.lost.append(self._without(error))
        self._seen = _Seen(
            facts=facts,
            scrubber=scrubber,
            tape=tape,
            seed=seed,
            home=home,
            resumed=_resumed(facts.resumed),
            actions=actions,
        )

    def _without(self, error: UsageError) -> str:
        """What is left out because of `error`, as a remark.

        Raises:
            FatalInputError: the run is not recorded without it.
        """
        raise FatalInputError(str(error)) from error

    def model(self, generator: ContentGenerator) -> ContentGenerator:
        """Wrap the model, so that all its responses are recorded."""
        return TapingContentGenerator(generator, self._run.tape)

    def sends(self, prompt: str, content: tuple[ContentPart, ...]) -> None:
        """Record a payload that the cassette's script sends."""
        self._run.actions.send(prompt, content)

    def saw(self, event: AgentEvent) -> None:
        """Count an event; an interruption is recorded as a number of events."""
        self._run.actions.events += 1
        if isinstance(event, AgentEnd):
            self._run.actions.ended(aborted=event.reason == "aborted")

    def write(
        self, *, interrupted: bool, file: Path | None = None, note: str = ""
    ) -> Recorded | None:
        """Write the cassette and the requests beside it; return `None` if nothing is worth keeping.

        Nothing is kept of a run in which the API answered nothing: see `nothing`.

        Args:
            interrupted: Whether the user ended the run.
            file: The cassette, in place of the recorder's own.
            note: One line about it, in place of the recorder's own.

        Raises:
            UsageError: a file cannot be written, what was recorded is no cassette, or a secret is
                left in it that no mask can cover. Then nothing is written.
        """
        seen, file = self._seen, (file or self._file).absolute()
        if seen is None or not seen.tape.steps or not seen.tape.answered:
            return None
        stopped = interrupted or seen.actions.aborted
        document: JsonObject = seen.scrubber.value(
            self._document(seen, file, note or self._note, interrupted=interrupted)
        )
        name = document["name"]
        try:
            cassette = build_cassette(json.loads(js_json(document)), file)
        except FormatProblem as problem:
            raise UsageError(
                f"what was recorded is no cassette: {problem}", "record without what it names"
            ) from problem
        requests = requests_file(file)
        asked: list[Json] = seen.scrubber.value(list(request_lines(seen.tape.requests)))
        seen.scrubber.refuse_remains(document, file.name)
        seen.scrubber.refuse_remains(asked, requests.name)
        _write(
            {
                requests: "".join(f"{js_json(line)}\n" for line in asked),
                file: f"{_head(name, seen)}{dump_yaml(document)}",
            }
        )
        return Recorded(
            file=file,
            requests=requests,
            steps=len(seen.tape.steps),
            files=len(seen.seed.files),
            interrupted=stopped,
            needs_trust=starts_processes(cassette) is not None,
            remarks=seen.remarks,
        )

    @property
    def nothing(self) -> str:
        """The reason why `write` keeps nothing, as a clause."""
        asked = self._seen is not None and self._seen.tape.steps
        return "the model's API answered nothing" if asked else "nothing was asked of a model"

    @property
    def _run(self) -> _Seen:
        assert self._seen is not None, "a run begins before anything else"
        return self._seen

    def _document(self, seen: _Seen, file: Path, note: str, *, interrupted: bool) -> JsonObject:
        plan, scrubber, actions = seen.facts.plan, seen.scrubber, seen.actions
        prompt = " ".join(scrubber.text(actions.first_prompt).split())
        settings, lost = session_settings(plan.document, interactive=self.interactive)
        session: JsonObject = {"model": plan.model}
        if self.interactive:
            session |= {"interactive": True, "new_session_per_send": True}
        if plan.approval_mode is not ApprovalMode.DEFAULT:
            session["approval_mode"] = plan.approval_mode.name.lower()
        session["settings"] = scrubber.settings(settings)
        document: JsonObject = {
            "cassette": FORMAT_VERSIONS[-1],
            "name": f"{file.parent.name}/{file.stem}",
            "note": note or f"recorded: {prompt[:70]}",
            "phase": "C" if self.interactive else "A",
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
        document["script"] = scrubber.value(list(actions.script))
        meanwhile = actions.during(interrupted=interrupted)
        if meanwhile:
            document["during"] = scrubber.value(meanwhile)
        answers = actions.answers()
        if answers:
            document["answers"] = scrubber.value(answers)
        document["model"] = [scrubber.value(step.document()) for step in seen.tape.steps]
        seen.remarks = [
            *actions.lost,
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
        # Only the host of an address, since the rest may contain a user name and a password.
        return f"the gateway {urlsplit(auth.base_url).hostname}"
    return "Vertex AI" if auth.vertexai else "the Gemini API"


def _head(name: Json, seen: _Seen) -> str:
    """The comment above a cassette: its name, and what it lacks."""
    lines = [f"Recorded by `parity record`: {name}", *map(seen.scrubber.text, seen.remarks)]
    return "".join(f"# {''.join(filter(str.isprintable, line))}\n" for line in lines)


def _resumed(file: Path | None) -> JsonObject | None:
    """Return the lines of the resumed recording, as they are before the run."""
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
    """Write all files or none."""
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
