"""Loading a cassette: read within bounds, checked whole, then built.

Source: the cassette format, version 1.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path, PurePosixPath
from typing import Final, get_args

from harness.cassette.answering import read_answers
from harness.cassette.document import parse_document, read_text
from harness.cassette.fields import Fields, text_of, whole_of
from harness.cassette.format import (
    FORMAT_VERSIONS,
    Answers,
    Cassette,
    Phase,
    Provenance,
    Resume,
    SessionSetup,
)
from harness.cassette.http_steps import read_http
from harness.cassette.macros import expand, expanded_length, has_placeholders, measure
from harness.cassette.needs import features_of
from harness.cassette.paths import check_recordings, inside, read_files
from harness.cassette.problems import FormatProblem, Problems, kind_of
from harness.cassette.script import APPROVAL_MODES, read_action, read_during
from harness.cassette.settings import check_settings
from harness.cassette.variants import plain_name, variant_of
from harness.errors import CassetteNotFound
from services.model.replay.matching import MatchMode
from services.model.replay.steps import (
    MAX_STEPS,
    ModelStep,
    StepFormatError,
    parse_step,
    parse_steps,
)
from services.wire import Json, JsonObject

__all__ = ["CASSETTE_KEYS", "build_cassette", "load_cassette"]

CASSETTE_KEYS: Final = (
    "cassette",
    "name",
    "note",
    "phase",
    "contract",
    "provenance",
    "session",
    "files",
    "home_files",
    "http",
    "resume",
    "script",
    "during",
    "answers",
    "match",
    "model",
    "unused",
)
"""The keys of a cassette, in the order in which the corpus writes them."""
_SESSION_KEYS: Final = (
    "model",
    "approval_mode",
    "interactive",
    "new_session_per_send",
    "settings",
)
_PHASES: Final[dict[str, Phase]] = {phase: phase for phase in get_args(Phase)}
_MATCHES: Final[dict[str, MatchMode]] = {mode: mode for mode in get_args(MatchMode)}
_KINDS: Final = {kind: kind for kind in ("authored", "recorded", "generated", "imported", "shrunk")}
_MEND_STEP: Final = "see `Model steps` of the cassette format"


def load_cassette(path: Path, root: Path | None = None) -> Cassette:
    """Load and check one file.

    Args:
        path: The file.
        root: The folder that it was found under. Its name may count from a folder above.

    Raises:
        CassetteNotFound: there is no such file, or it cannot be read.
        CassetteFormatError: it is not a cassette; names the key and how to mend it, and
            has the other problems in `more`.
    """
    try:
        tree = parse_document(read_text(path), strict_json=path.suffix == ".json")
        return build_cassette(tree, path, root)
    except OSError as error:
        reason = error.strerror or str(error)
        raise CassetteNotFound(path, "", f"cannot be read: {reason}", "check the path") from error
    except FormatProblem as problem:
        raise problem.in_file(path) from problem


def build_cassette(tree: Json, path: Path, root: Path | None = None) -> Cassette:
    """Build a cassette from its document's values, with macros not yet expanded.

    Args:
        tree: The document.
        path: Where it lies, or will lie; its name must agree.
        root: The folder that it was found under.

    Raises:
        FormatProblem: it is not a cassette.
    """
    _check_version(tree)
    problems = Problems()
    problems.of(lambda: Fields(tree, "", CASSETTE_KEYS))
    try:
        _check_bounds(tree)
    except FormatProblem as problem:  # an expansion could exceed the bounds
        problems.add(problem)
        problems.refuse()
    document: JsonObject = expand(tree)
    return _build(Fields(document, "", tuple(document)), document, path, root, problems)


def _check_bounds(tree: JsonObject) -> None:
    for key in ("model", "script", "during", "contract", "unused", "http"):
        _check_length(tree.get(key, []), key)
    answers = tree.get("answers")
    for key, value in answers.items() if isinstance(answers, dict) else ():
        _check_length(value, f"answers.{key}")
    measure(tree)


def _build(
    fields: Fields, document: JsonObject, path: Path, root: Path | None, problems: Problems
) -> Cassette:
    of = problems.of
    items = of(lambda: fields.items("model", required=True))
    script = of(lambda: fields.items("script", required=True)) or []
    during = of(lambda: fields.items("during")) or []
    name = of(lambda: fields.text("name")) or ""
    session = of(lambda: _read_session(fields.need("session")))
    read = None if items is None else of(lambda: _read_steps(items))
    steps = read or ()
    home_files = of(lambda: read_files(fields.mapping("home_files"), "home_files")) or {}
    resume = of(lambda: _read_resume(fields.raw("resume")) if "resume" in fields else None)
    of(lambda: check_recordings(home_files, None if resume is None else resume.name))
    place = of(lambda: _root_of(name, path, root)) or path if name else path
    note = of(lambda: fields.text("note", "")) or ""
    phase = of(lambda: fields.choice("phase", _PHASES) if "phase" in fields else None)
    contract = of(lambda: _texts(fields, "contract")) or ()
    provenance = of(lambda: _read_provenance(fields.mapping("provenance"))) or Provenance()
    files = of(lambda: read_files(fields.mapping("files"), "files")) or {}
    http = of(lambda: read_http(fields.items("http"))) or ()
    actions = [of(partial(read_action, item, f"script[{n}]")) for n, item in enumerate(script)]
    whiles = [of(partial(read_during, item, f"during[{n}]")) for n, item in enumerate(during)]
    answers = of(lambda: read_answers(fields.mapping("answers"), "answers")) or Answers()
    match = of(lambda: fields.choice("match", _MATCHES, "in_order")) or _MATCHES["in_order"]
    # If the steps could not be read, their number is unknown.
    most = MAX_STEPS if read is None else len(steps)
    unused = of(lambda: _read_unused(fields.items("unused"), most)) or ()
    problems.refuse()
    assert session is not None, "it was not refused"
    return Cassette(
        name=name,
        path=path,
        root=place,
        note=note,
        phase=phase,
        contract=contract,
        provenance=provenance,
        session=session,
        files=files,
        home_files=home_files,
        http=http,
        resume=resume,
        script=tuple(action for action in actions if action is not None),
        during=tuple(each for each in whiles if each is not None),
        answers=answers,
        match=match,
        steps=steps,
        unused=unused,
        features=features_of(document),
        placeholders=has_placeholders(document),
        document=document,
    )


def _read_steps(items: list[Json]) -> tuple[ModelStep, ...]:
    try:
        return parse_steps(items)
    except StepFormatError as error:
        problems = Problems()
        for position, item in enumerate(items):
            problems.of(partial(_check_step, item, f"model[{position}]"))
        problems.refuse()
        raise FormatProblem(error.path, error.problem, _MEND_STEP) from error


def _check_step(item: Json, path: str) -> None:
    try:
        parse_step(item, path)
    except StepFormatError as error:
        raise FormatProblem(error.path, error.problem, _MEND_STEP) from error


def _check_version(tree: Json) -> None:
    if not isinstance(tree, dict) or "cassette" not in tree:
        problem = f"is not a cassette: {_first_keys(tree)}"
        raise FormatProblem("cassette", problem, "a cassette starts with `cassette: 1`")
    version = tree["cassette"]
    if isinstance(version, bool) or version not in FORMAT_VERSIONS:
        known = ", ".join(str(number) for number in FORMAT_VERSIONS)
        problem = f"format version {kind_of(version)} is not one that this build reads ({known})"
        raise FormatProblem("cassette", problem, "convert the file, or use the build it is for")


def _first_keys(tree: Json) -> str:
    if not isinstance(tree, dict):
        return f"the file holds {kind_of(tree)}"
    return f"its keys are {', '.join(list(tree)[:5]) or 'none'}"


def _check_length(items: Json, key: str) -> None:
    length = expanded_length(items)
    if length > MAX_STEPS:
        problem = f"expands to {length:,} items, more than {MAX_STEPS:,}"
        raise FormatProblem(key, problem, "lower `repeat` or `$times`")


def _root_of(name: str, path: Path, root: Path | None) -> Path:
    """Return the folder that the name is relative to.

    Raises:
        FormatProblem: there is none: the name does not agree with the path.
    """
    inside(name, "name")
    if variant_of(name) is not None:
        problem = f"{name!r} is what a variant of {plain_name(name)!r} is called"
        raise FormatProblem("name", problem, "name it otherwise")
    place = path.absolute().with_suffix("")
    parts = PurePosixPath(name).parts
    if place.parts[-len(parts) :] != parts:
        seen = place
        if root is not None and place.is_relative_to(root.absolute()):
            seen = place.relative_to(root.absolute())
        problem = f"{name!r} does not agree with the file's path {seen.as_posix()!r}"
        raise FormatProblem("name", problem, "name it as the path says, or move the file")
    return place.parents[len(parts) - 1]


def _read_session(value: Json) -> SessionSetup:
    problems = Problems()
    of = problems.of
    known = of(lambda: Fields(value, "session", _SESSION_KEYS))
    if not isinstance(value, dict):
        problems.refuse()
    session = known or Fields(value, "session", tuple(value))
    model = of(lambda: _read_model(session)) or ""
    settings = of(lambda: session.mapping("settings")) or {}
    of(lambda: check_settings(settings, "session.settings"))
    default = APPROVAL_MODES["default"]
    mode = of(lambda: session.choice("approval_mode", APPROVAL_MODES, "default")) or default
    interactive = of(lambda: session.flag("interactive")) or False
    new_session_per_send = of(lambda: session.flag("new_session_per_send")) or False
    problems.refuse()
    return SessionSetup(
        model=model,
        approval_mode=mode,
        interactive=interactive,
        new_session_per_send=new_session_per_send,
        settings=settings,
    )


def _read_model(session: Fields) -> str:
    model = session.text("model")
    if not model:
        raise FormatProblem("session.model", "is empty", "name a model, such as gemini-2.5-flash")
    return model


def _read_provenance(value: JsonObject) -> Provenance:
    known = ("kind", "source", "recorded_at", "licence", "seed")
    fields = Fields(value, "provenance", known)
    return Provenance(
        kind=fields.choice("kind", _KINDS) if "kind" in fields else None,
        source=fields.optional_text("source"),
        recorded_at=fields.optional_text("recorded_at"),
        licence=fields.optional_text("licence"),
        seed=fields.raw("seed"),
    )


def _read_resume(value: Json) -> Resume:
    fields = Fields(value, "resume", ("records", "file"))
    records = fields.items("records", required=True)
    for position, record in enumerate(records):
        if not isinstance(record, dict):
            problem = f"must be a mapping, not {kind_of(record)}"
            raise FormatProblem(f"resume.records[{position}]", problem, "write one line's object")
    file = fields.optional_text("file")
    if file is not None and "/" in inside(file, "resume.file"):
        problem = f"{file!r} is not the plain name of a file"
        raise FormatProblem("resume.file", problem, "leave its folder out")
    return Resume(records=tuple(records), file=file)


def _read_unused(items: list[Json], steps: int) -> tuple[int, ...]:
    indices = tuple(whole_of(item, f"unused[{n}]") for n, item in enumerate(items))
    for position, index in enumerate(indices):
        if index >= steps:
            problem = f"there is no step {index}: the steps are 0 to {steps - 1}"
            mend = "count from 0, with `repeat` expanded"
            raise FormatProblem(f"unused[{position}]", problem, mend)
    return indices


def _texts(fields: Fields, key: str) -> tuple[str, ...]:
    items = fields.items(key)
    return tuple(text_of(item, f"{fields.at(key)}[{n}]") for n, item in enumerate(items))
