"""Reading what was signed: a statement that is exactly of its type, or none at all.

A field too many could be relied on without being checked, so there is none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from pydantic import ValidationError

from harness.errors import first_problem
from harness.inventory import Component
from harness.signoff.statement import (
    HEAD_TYPE,
    REVOCATION_TYPE,
    SIGNOFF_TYPE,
    STATEMENT_TYPE,
    Head,
    Revocation,
    SignOff,
    Statement,
    payload_of,
)
from harness.signoff.strict_json import NotStrict, parse_strict

__all__ = ["NotAStatement", "parse_statement"]

_OUTER: Final = {"_type", "subject", "predicateType", "predicate"}
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_KINDS: Final = (SIGNOFF_TYPE, REVOCATION_TYPE, HEAD_TYPE)


class NotAStatement(ValueError):
    """The payload is no statement that this build believes. The message is a phrase."""


def parse_statement(payload: bytes) -> Statement:
    """The statement that a payload holds.

    Raises:
        NotAStatement: not canonical JSON, another type, or a field too many, too few or wrong.
    """
    try:
        value = parse_strict(payload)
    except NotStrict as error:
        raise NotAStatement(f"its statement {error}") from None
    if not isinstance(value, dict) or set(value) != _OUTER:
        raise NotAStatement("its statement must have the in-toto fields and no others")
    if value["_type"] != STATEMENT_TYPE:
        raise NotAStatement(f"its _type is not {STATEMENT_TYPE!r}")
    kind = value["predicateType"]
    predicate = value["predicate"]
    if not isinstance(predicate, dict):
        raise NotAStatement("its predicate is no mapping")
    subjects = _subjects(value["subject"])
    try:
        if kind == SIGNOFF_TYPE:
            components = _components(predicate.get("components"), subjects)
            found: Statement = SignOff.model_validate(
                {**predicate, "components": components}, by_alias=True, by_name=False
            )
        elif kind == REVOCATION_TYPE:
            (revoked,) = _one(subjects)
            found = Revocation.model_validate(
                {**predicate, "revokes": {"file": revoked[0], "sha256": revoked[1]}},
                by_alias=True,
                by_name=False,
            )
        elif kind == HEAD_TYPE:
            (newest,) = _one(subjects)
            found = Head.model_validate(
                {**predicate, "payloadSha256": newest[1]}, by_alias=True, by_name=False
            )
        else:
            raise NotAStatement(f"its predicateType is none of {', '.join(_KINDS)}")
    except ValidationError as error:
        raise NotAStatement(f"predicate.{': '.join(first_problem(error))}") from None
    if payload_of(found) != payload:
        raise NotAStatement("its statement says something in another way than it is written")
    return found


def _subjects(value: Any) -> dict[str, str]:
    """Name to SHA-256."""
    if not isinstance(value, list):
        raise NotAStatement("its subject is no list")
    found: dict[str, str] = {}
    for each in value:
        if not isinstance(each, dict) or set(each) != {"name", "digest"}:
            raise NotAStatement("a subject must have a name, a digest and nothing else")
        name, digest = each["name"], each["digest"]
        if not isinstance(digest, dict) or set(digest) != {"sha256"}:
            raise NotAStatement("a subject's digest must be a sha256 and nothing else")
        hashed = digest["sha256"]
        if not isinstance(name, str) or not isinstance(hashed, str) or name in found:
            raise NotAStatement("two subjects have one name, or one has none")
        if not _SHA256.fullmatch(hashed):
            raise NotAStatement("a subject's sha256 must be 64 hex digits")
        found[name] = hashed
    return found


def _one(subjects: dict[str, str]) -> list[tuple[str, str]]:
    if len(subjects) != 1:
        raise NotAStatement("its statement must be about one subject")
    return list(subjects.items())


def _components(value: Any, subjects: Mapping[str, str]) -> dict[str, Component]:
    if not isinstance(value, dict):
        raise NotAStatement("predicate.components is no mapping")
    files: dict[str, dict[str, str]] = {name: {} for name in value}
    for subject, hashed in subjects.items():
        component, colon, file = subject.partition(":")
        if not colon or component not in files:
            raise NotAStatement(f"the subject {subject!r} belongs to no component")
        files[component][file] = hashed
    found: dict[str, Component] = {}
    for name, each in value.items():
        if not isinstance(each, dict) or set(each) != {"digest", "parts", "versions"}:
            raise NotAStatement(f"predicate.components.{name} has other fields than it must")
        parts, versions = each["parts"], each["versions"]
        for mapping in (parts, versions):
            if not isinstance(mapping, dict) or not all(
                isinstance(x, str) for x in mapping.values()
            ):
                raise NotAStatement(f"predicate.components.{name} holds what is no text")
        found[name] = Component({**files[name], **versions}, parts)
        if found[name].digest != each["digest"]:
            raise NotAStatement(f"predicate.components.{name}.digest is not that of its files")
    return found
