"""Read a signed statement: every field is checked, and unknown fields are refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field, TypeAdapter, ValidationError

from harness.errors import first_problem
from harness.gate.reasons import Value
from harness.inventory import Component
from harness.signoff.statement import (
    HEAD_TYPE,
    REVOCATION_TYPE,
    SIGNOFF_TYPE,
    STATEMENT_TYPE,
    Head,
    Revocation,
    Sha256,
    SignOff,
    Statement,
    payload_of,
)
from harness.signoff.strict_json import NotStrict, parse_strict

__all__ = ["NotAStatement", "parse_statement"]


class NotAStatement(ValueError):
    """The payload is no statement that this build believes. The message is a phrase."""


class _Digest(Value):
    sha256: Sha256


class _Subject(Value):
    name: str
    digest: _Digest


class _Outer(Value):
    """An in-toto Statement."""

    type_: str = Field(alias="_type")
    subject: list[_Subject]
    predicate_type: str
    predicate: dict[str, Any]


class _Component(Value):
    digest: str
    parts: dict[str, str]
    versions: dict[str, str]


_COMPONENTS = TypeAdapter(dict[str, _Component])


def parse_statement(payload: bytes) -> Statement:
    """The statement that a payload holds.

    Raises:
        NotAStatement: not canonical JSON, another type, or a field too many, too few or wrong.
    """
    try:
        outer = _Outer.model_validate(parse_strict(payload), by_alias=True, by_name=False)
    except NotStrict as error:
        raise NotAStatement(f"its statement {error}") from None
    except ValidationError as error:
        place, problem = first_problem(error)
        raise NotAStatement(f"its statement is wrong: {place or 'the whole'}: {problem}") from None
    if outer.type_ != STATEMENT_TYPE:
        raise NotAStatement(f"its _type is not {STATEMENT_TYPE!r}")
    try:
        found = _predicate(outer)
    except ValidationError as error:
        raise NotAStatement(f"predicate.{': '.join(first_problem(error))}") from None
    if payload_of(found) != payload:
        raise NotAStatement("its statement says something in another way than it is written")
    return found


def _predicate(outer: _Outer) -> Statement:
    subjects = {each.name: each.digest.sha256 for each in outer.subject}
    if len(subjects) < len(outer.subject):
        raise NotAStatement("two subjects have one name")
    if outer.predicate_type == SIGNOFF_TYPE:
        components = _components(outer.predicate.get("components"), subjects)
        values = {**outer.predicate, "components": components}
        return SignOff.model_validate(values, by_alias=True, by_name=False)
    if outer.predicate_type not in (REVOCATION_TYPE, HEAD_TYPE):
        kinds = f"{SIGNOFF_TYPE}, {REVOCATION_TYPE}, {HEAD_TYPE}"
        raise NotAStatement(f"its predicateType is none of {kinds}")
    if len(subjects) != 1:
        raise NotAStatement("its statement must be about one subject")
    ((name, sha256),) = subjects.items()
    if outer.predicate_type == HEAD_TYPE:
        values = {**outer.predicate, "payloadSha256": sha256}
        return Head.model_validate(values, by_alias=True, by_name=False)
    values = {**outer.predicate, "revokes": {"file": name, "sha256": sha256}}
    return Revocation.model_validate(values, by_alias=True, by_name=False)


def _components(value: Any, subjects: Mapping[str, str]) -> dict[str, Component]:
    try:
        written = _COMPONENTS.validate_python(value, by_alias=True, by_name=False)
    except ValidationError as error:
        place, problem = first_problem(error)
        raise NotAStatement(f"predicate.components: {place}: {problem}") from None
    files: dict[str, dict[str, str]] = {name: {} for name in written}
    for subject, hashed in subjects.items():
        component, colon, file = subject.partition(":")
        if not colon or component not in files:
            raise NotAStatement(f"the subject {subject!r} belongs to no component")
        files[component][file] = hashed
    found: dict[str, Component] = {}
    for name, each in written.items():
        found[name] = Component({**files[name], **each.versions}, each.parts)
        if found[name].digest != each.digest:
            raise NotAStatement(f"predicate.components.{name}.digest is not that of its files")
    return found
