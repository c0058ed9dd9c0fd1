"""What is wrong with a submitted value, sorted by field, in the words of upstream's library.

Arguments have passed a JSON schema by then, so this speaks up only where that schema could not be
used. Fields that nobody asked for are let through.

Source: core `tools/complete-task.ts`; npm `zod` 3 (`ZodError.flatten`, `locales/en.ts`) over what
`zod-to-json-schema` makes of a schema.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from jsonschema import Draft7Validator

from services.outside_patterns import PatternBudget, PatternLimit
from services.tools.bounded_validators import SchemaLimit, bounded_work, schema_step
from services.tools.js_regex import JsRegexError, compile_js
from services.wire import Json, JsonObject, js_json, js_number

__all__ = ["flattened_issues", "referenced"]

_Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class _Issue:
    path: _Path
    message: str
    limit: bool = False
    """The value is of the right kind, but beyond a limit."""


def flattened_issues(schema: JsonObject, value: Json) -> JsonObject | None:
    """`{formErrors, fieldErrors}` of `value` against JSON schema `schema`; `None`: all is well.

    A check that ends at its limit is an error of the form.
    """
    form: list[str] = []
    fields: dict[str, list[str]] = {}
    try:
        with bounded_work() as budget:
            for issue in _Reader(schema, budget).issues(schema, value, ()):
                if issue.path:
                    fields.setdefault(str(issue.path[0]), []).append(issue.message)
                else:
                    form.append(issue.message)
    except (PatternLimit, SchemaLimit) as problem:
        form.append(str(problem))
    except RecursionError:
        form.append("Schema or value are nested too deeply")
    return {"formErrors": form, "fieldErrors": fields} if form or fields else None


def referenced(root: JsonObject, reference: str) -> Json | None:
    """The schema that `reference` (`#/…`) means in `root`; `None` where there is none."""
    if reference.split("#")[0]:
        return None
    found: Json = root
    for step in reference.removeprefix("#").split("/")[1:]:
        key = unquote(step).replace("~1", "/").replace("~0", "~")
        if isinstance(found, dict) and key in found:
            found = found[key]
        elif isinstance(found, list) and key.isdecimal() and int(key) < len(found):
            found = found[int(key)]
        else:
            return None
    return found


@dataclass(frozen=True, slots=True)
class _Reader:
    root: JsonObject
    budget: PatternBudget

    def issues(self, schema: Json, value: Json, path: _Path) -> Iterator[_Issue]:
        """What `schema` has against `value`, which lies at `path`, in order of reading."""
        if not isinstance(schema, dict):
            return
        schema_step(value)
        if isinstance(schema.get("$ref"), str):
            yield from self.issues(referenced(self.root, schema["$ref"]), value, path)
        elif "anyOf" in schema or "oneOf" in schema:
            yield from self._alternatives(schema.get("anyOf") or schema["oneOf"], value, path)
        elif "allOf" in schema:
            for part in schema["allOf"]:
                yield from self.issues(part, value, path)
        elif "const" in schema:
            if not _same(value, schema["const"]):
                yield _Issue(path, f"Invalid literal value, expected {js_json(schema['const'])}")
        else:
            yield from self._typed(schema, value, path)

    def _alternatives(self, branches: list[Json], value: Json, path: _Path) -> Iterator[_Issue]:
        null = {"type": "null"}
        others = [branch for branch in branches if branch != null]
        if value is None and len(others) < len(branches):
            return
        if len(others) == 1:
            yield from self.issues(others[0], value, path)
            return
        found = [list(self.issues(branch, value, path)) for branch in branches]
        if all(found):
            nearly = (issues for issues in found if all(issue.limit for issue in issues))
            yield from next(nearly, [_Issue(path, "Invalid input")])

    def _typed(self, schema: JsonObject, value: Json, path: _Path) -> Iterator[_Issue]:
        kinds = schema.get("type")
        kinds = kinds if isinstance(kinds, list) else [kinds]
        if value is None and "null" in kinds:
            return
        kinds = [kind for kind in kinds if kind != "null"] or kinds
        if len(kinds) > 1:
            if not any(_is_a(value, kind) for kind in kinds):
                yield _Issue(path, "Invalid input")
                return
            kinds = [kind for kind in kinds if _is_a(value, kind)]
        kind, found = kinds[0], _kind_of(value)
        if "enum" in schema:
            yield from _one_of(schema["enum"], value, path)
        elif kind == "integer" and found == "number" and not _is_a(value, "integer"):
            yield _Issue(path, "Expected integer, received float", limit=True)
        elif kind is not None and not _is_a(value, kind):
            expected = "number" if kind == "integer" else kind
            yield _Issue(path, f"Expected {expected}, received {found}")
        elif found == "object":
            yield from self._fields(schema, value, path)
        else:
            yield from (
                _Issue(path, said, limit=True) for said in _beyond(schema, value, self.budget)
            )
            if found == "array":
                for index, item in enumerate(value):
                    yield from self.issues(schema.get("items"), item, (*path, index))

    def _fields(self, schema: JsonObject, value: JsonObject, path: _Path) -> Iterator[_Issue]:
        known = schema.get("properties") or {}
        required = schema.get("required") or ()
        for name, inner in known.items():
            if name in value:
                yield from self.issues(inner, value[name], (*path, name))
            elif name in required:
                yield _Issue((*path, name), self._missing(inner))
        for name in value:
            if name not in known:
                yield from self.issues(
                    schema.get("additionalProperties"), value[name], (*path, name)
                )

    def _missing(self, schema: Json) -> str:
        """What is said of a value that is not there: not the same for every kind."""
        while isinstance(schema, dict) and isinstance(schema.get("$ref"), str):
            schema_step(None)
            schema = referenced(self.root, schema["$ref"])
        if not isinstance(schema, dict):
            return "Required"
        if "const" in schema:
            return f"Invalid literal value, expected {js_json(schema['const'])}"
        kinds = schema.get("type")
        either = kinds if isinstance(kinds, list) else schema.get("anyOf") or []
        others = [one for one in either if one not in ("null", {"type": "null"})]
        return "Invalid input" if len(others) > 1 else "Required"


def _one_of(values: list[Json], value: Json, path: _Path) -> Iterator[_Issue]:
    if any(_same(value, each) for each in values):
        return
    listed = " | ".join(f"'{each}'" if isinstance(each, str) else js_json(each) for each in values)
    if isinstance(value, str):
        yield _Issue(path, f"Invalid enum value. Expected {listed}, received '{value}'")
    else:
        yield _Issue(path, f"Expected {listed}, received {_kind_of(value)}")


def _beyond(schema: JsonObject, value: Json, budget: PatternBudget) -> Iterator[str]:
    """Limits that a text, a number or a list does not keep, in the schema's order."""
    for keyword, limit in schema.items():
        rule = _LIMITS.get((keyword, _kind_of(value)))
        if rule is not None and not Draft7Validator({keyword: limit}).is_valid(value):
            yield rule.format(limit if isinstance(limit, str) else js_number(limit))
        elif keyword == "pattern" and isinstance(value, str) and not _found(limit, value, budget):
            yield "Invalid"


def _found(pattern: str, text: str, budget: PatternBudget) -> bool:
    """Whether `pattern` is found in `text`; never where it is no pattern."""
    try:
        return compile_js(pattern).search(text, budget) is not None
    except JsRegexError:
        return False


_LIMITS: Final = {
    ("minLength", "string"): "String must contain at least {} character(s)",
    ("maxLength", "string"): "String must contain at most {} character(s)",
    ("minItems", "array"): "Array must contain at least {} element(s)",
    ("maxItems", "array"): "Array must contain at most {} element(s)",
    ("minimum", "number"): "Number must be greater than or equal to {}",
    ("exclusiveMinimum", "number"): "Number must be greater than {}",
    ("maximum", "number"): "Number must be less than or equal to {}",
    ("exclusiveMaximum", "number"): "Number must be less than {}",
    ("multipleOf", "number"): "Number must be a multiple of {}",
}


def _kind_of(value: Json) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def _is_a(value: Json, kind: str) -> bool:
    return Draft7Validator({"type": kind}).is_valid(value)


def _same(value: Json, other: Json) -> bool:
    return _kind_of(value) == _kind_of(other) and bool(value == other)
