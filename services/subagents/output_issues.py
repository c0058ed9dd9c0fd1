"""Checks a submitted output, with the messages of upstream's library by field.

Arguments have passed a JSON schema before, so that this check finds faults only where that schema
was unusable. Unknown fields are accepted.

Source: core `tools/complete-task.ts`; npm `zod` 3 (`ZodError.flatten`, `locales/en.ts`) over what
`zod-to-json-schema` makes of a schema.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final
from urllib.parse import unquote

from jsonschema import Draft7Validator

from services.outside_patterns import PatternBudget, PatternLimit
from services.tools.bounded_validators import SchemaLimit, bounded_work, schema_step
from services.tools.js_regex import JsRegexError, compile_js
from services.wire import Json, JsonObject, js_json, js_number
from services.zod import ZOD3, Issue, Path, Shape

__all__ = ["flattened_issues", "referenced"]


def flattened_issues(schema: JsonObject, value: Json) -> JsonObject | None:
    """Check `value` against a JSON schema; return `{formErrors, fieldErrors}`, `None` if valid.

    A check that reaches its limit is an error of the form.
    """
    found: list[Issue] = []
    limits: list[str] = []
    try:
        with bounded_work() as budget:
            _Reader(schema, budget).read(schema, value, (), found)
    except (PatternLimit, SchemaLimit) as problem:
        limits.append(str(problem))
    except RecursionError:
        limits.append("Schema or value are nested too deeply")
    form = [issue.message for issue in found if not issue.path] + limits
    fields: dict[str, list[str]] = {}
    for issue in found:
        if issue.path:
            fields.setdefault(str(issue.path[0]), []).append(issue.message)
    return {"formErrors": form, "fieldErrors": fields} if form or fields else None


def referenced(root: JsonObject, reference: str) -> Json | None:
    """Return the schema at `reference` (`#/…`) in `root`; `None` where it is missing."""
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

    def read(self, schema: Json, value: Json, path: Path, issues: list[Issue]) -> Json:
        """Append the issues of `value` against `schema`, in order."""
        if not isinstance(schema, dict):
            return value
        schema_step(value)
        if isinstance(schema.get("$ref"), str):
            self.read(referenced(self.root, schema["$ref"]), value, path, issues)
        elif "anyOf" in schema or "oneOf" in schema:
            self._alternatives(schema.get("anyOf") or schema["oneOf"], value, path, issues)
        elif "allOf" in schema:
            for part in schema["allOf"]:
                self.read(part, value, path, issues)
        elif "const" in schema:
            ZOD3.literal(schema["const"])(value, path, issues)
        else:
            self._typed(schema, value, path, issues)
        return value

    def _shape(self, schema: Json) -> Shape:
        return partial(self.read, schema)

    def _alternatives(
        self, branches: list[Json], value: Json, path: Path, issues: list[Issue]
    ) -> None:
        others = [branch for branch in branches if branch != {"type": "null"}]
        if value is None and len(others) < len(branches):
            return
        one = len(others) == 1
        shape = self._shape(others[0]) if one else ZOD3.union(*map(self._shape, branches))
        shape(value, path, issues)

    def _typed(self, schema: JsonObject, value: Json, path: Path, issues: list[Issue]) -> None:
        kinds = schema.get("type")
        kinds = kinds if isinstance(kinds, list) else [kinds]
        if value is None and "null" in kinds:
            return
        kinds = [kind for kind in kinds if kind != "null"] or kinds
        if len(kinds) > 1:
            kinds = [kind for kind in kinds if _is_a(value, kind)]
            if not kinds:
                issues.append(Issue(path, "Invalid input"))
                return
        kind, found = kinds[0], ZOD3.kind_of(value)
        if "enum" in schema:
            if not any(_same(value, each) for each in schema["enum"]):
                issues.append(ZOD3.not_one_of(schema["enum"], value, path))
        elif kind == "integer" and found == "number" and not _is_a(value, "integer"):
            issues.append(Issue(path, "Expected integer, received float", dirty=True))
        elif kind is not None and not _is_a(value, kind):
            expected = "number" if kind == "integer" else kind
            issues.append(ZOD3.wrong_type(expected, value, path))
        elif found == "object":
            self._fields(schema, value, path, issues)
        else:
            beyond = _beyond(schema, value, self.budget)
            issues.extend(Issue(path, message, dirty=True) for message in beyond)
            if found == "array":
                ZOD3.array(self._shape(schema.get("items")))(value, path, issues)

    def _fields(
        self, schema: JsonObject, value: JsonObject, path: Path, issues: list[Issue]
    ) -> None:
        known = schema.get("properties") or {}
        required = schema.get("required") or ()
        for name, inner in known.items():
            if name in value:
                self.read(inner, value[name], (*path, name), issues)
            elif name in required:
                issues.append(Issue((*path, name), self._missing(inner)))
        for name in value:
            if name not in known:
                self.read(schema.get("additionalProperties"), value[name], (*path, name), issues)

    def _missing(self, schema: Json) -> str:
        """Return the message for a missing value of a schema."""
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


def _beyond(schema: JsonObject, value: Json, budget: PatternBudget) -> Iterator[str]:
    """Yield a message for each limit that the value exceeds, in the schema's order."""
    for keyword, limit in schema.items():
        rule = _LIMITS.get((keyword, ZOD3.kind_of(value)))
        if rule is not None and not Draft7Validator({keyword: limit}).is_valid(value):
            yield rule.format(limit if isinstance(limit, str) else js_number(limit))
        elif keyword == "pattern" and isinstance(value, str) and not _found(limit, value, budget):
            yield "Invalid"


def _found(pattern: str, text: str, budget: PatternBudget) -> bool:
    """Whether `pattern` matches in `text`; False for an invalid pattern."""
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


def _is_a(value: Json, kind: str) -> bool:
    return Draft7Validator({"type": kind}).is_valid(value)


def _same(value: Json, other: Json) -> bool:
    return ZOD3.kind_of(value) == ZOD3.kind_of(other) and bool(value == other)
