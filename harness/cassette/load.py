"""Loading a cassette: bounded, checked to the last key, and only then built.

Source: the cassette format, version 1.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Final, get_args

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
from harness.cassette.macros import expand, expanded_length, has_placeholders, measure
from harness.cassette.needs import features_of
from harness.cassette.paths import check_recordings, inside, read_files
from harness.cassette.problems import FormatProblem, kind_of
from harness.cassette.script import APPROVAL_MODES, read_action, read_answers, read_during
from harness.cassette.settings import check_settings
from harness.cassette.variants import plain_name, variant_of
from harness.errors import CassetteNotFound
from services.model.replay.matching import MatchMode
from services.model.replay.steps import MAX_STEPS, StepFormatError, parse_steps
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
        CassetteFormatError: it is not a cassette; names the key and how to mend it.
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
    """A cassette from its document's values, macros not yet expanded.

    Args:
        tree: The document.
        path: Where it lies, or will lie; its name must agree.
        root: The folder that it was found under.

    Raises:
        FormatProblem: it is not a cassette.
    """
    _check_version(tree)
    fields = Fields(tree, "", CASSETTE_KEYS)
    for key in ("model", "script", "during"):
        _check_length(fields.items(key, required=key != "during"), key)
    for key in ("contract", "unused"):
        _check_length(fields.raw(key), key)
    for key, value in fields.mapping("answers").items():
        _check_length(value, f"answers.{key}")
    measure(tree)
    document: JsonObject = expand(tree)
    return _build(Fields(document, "", CASSETTE_KEYS), document, path, root)


def _build(fields: Fields, document: JsonObject, path: Path, root: Path | None) -> Cassette:
    name = fields.text("name")
    session = _read_session(fields.need("session"))
    try:
        steps = parse_steps(fields.items("model", required=True))
    except StepFormatError as error:
        raise FormatProblem(error.path, error.problem, _MEND_STEP) from error
    script = fields.items("script", required=True)
    home_files = read_files(fields.mapping("home_files"), "home_files")
    resume = _read_resume(fields.raw("resume")) if "resume" in fields else None
    check_recordings(home_files, None if resume is None else resume.name)
    return Cassette(
        name=name,
        path=path,
        root=_root_of(name, path, root),
        note=fields.text("note", ""),
        phase=fields.choice("phase", _PHASES) if "phase" in fields else None,
        contract=_texts(fields, "contract"),
        provenance=_read_provenance(fields.mapping("provenance")),
        session=session,
        files=read_files(fields.mapping("files"), "files"),
        home_files=home_files,
        resume=resume,
        script=tuple(read_action(item, f"script[{n}]") for n, item in enumerate(script)),
        during=tuple(
            read_during(item, f"during[{n}]") for n, item in enumerate(fields.items("during"))
        ),
        answers=read_answers(fields.raw("answers"), "answers")
        if "answers" in fields
        else Answers(),
        match=fields.choice("match", _MATCHES, "in_order"),
        steps=steps,
        unused=_read_unused(fields.items("unused"), len(steps)),
        features=features_of(document),
        placeholders=has_placeholders(document),
        document=document,
    )


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
    """The folder under which the file's path is its name.

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
    session = Fields(value, "session", _SESSION_KEYS)
    model = session.text("model")
    if not model:
        raise FormatProblem("session.model", "is empty", "name a model, such as gemini-2.5-flash")
    settings = session.mapping("settings")
    check_settings(settings, "session.settings")
    return SessionSetup(
        model=model,
        approval_mode=session.choice("approval_mode", APPROVAL_MODES, "default"),
        interactive=session.flag("interactive"),
        new_session_per_send=session.flag("new_session_per_send"),
        settings=settings,
    )


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
