from __future__ import annotations

import pytest

from services.tools.schema import ParameterSchema

SCHEMA = {
    "type": "object",
    "properties": {
        "n": {"minimum": 1, "maximum": 3, "type": "integer"},
        "kind": {"enum": ["a", "b"], "type": "string"},
        "list": {"type": "array", "minItems": 1, "items": {"type": "string"}},
        "inner": {
            "type": "object",
            "properties": {"a/b": {"type": "boolean"}},
            "required": ["x"],
            "additionalProperties": False,
        },
        "either": {"anyOf": [{"type": "string"}, {"type": "number"}]},
        "maybe": {"type": ["string", "null"]},
        "text": {"type": "string", "minLength": 2, "pattern": "^x"},
    },
    "required": ["n"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ("x", "Value of params must be an object"),
        (None, "Value of params must be an object"),
        ([], "params must be object"),
        ({}, "params must have required property 'n'"),
        ({"bad": 1}, "params must have required property 'n'"),
        ({"n": 9, "bad": 1}, "params must NOT have additional properties"),
        ({"n": 0}, "params/n must be >= 1"),
        ({"n": 4}, "params/n must be <= 3"),
        ({"n": "1"}, "params/n must be integer"),
        ({"n": True}, "params/n must be integer"),
        ({"n": 1, "kind": "c"}, "params/kind must be equal to one of the allowed values"),
        ({"n": 1, "list": []}, "params/list must NOT have fewer than 1 items"),
        ({"n": 1, "list": ["a", 2]}, "params/list/1 must be string"),
        ({"n": 1, "inner": {}}, "params/inner must have required property 'x'"),
        (
            {"n": 1, "inner": {"x": 1, "a/b": 1}},
            "params/inner must NOT have additional properties",
        ),
        (
            {"n": 1, "either": []},
            (
                "params/either must be string, params/either must be number, "
                "params/either must match a schema in anyOf"
            ),
        ),
        ({"n": 1, "maybe": 1}, "params/maybe must be string,null"),
        ({"n": 1, "text": "x"}, "params/text must NOT have fewer than 2 characters"),
        ({"n": 1, "text": "yy"}, 'params/text must match pattern "^x"'),
    ],
)
def test_the_error_is_that_of_the_first_failing_keyword(arguments, fault):
    assert ParameterSchema(SCHEMA).fault(arguments) == fault


def test_valid_arguments_have_no_error_and_whole_floats_are_integers():
    assert ParameterSchema(SCHEMA).fault({"n": 2.0, "maybe": None, "either": 1.5}) is None


def test_pointer_characters_in_names_are_escaped():
    schema = {"type": "object", "properties": {"a/b~c": {"type": "string"}}}
    assert ParameterSchema(schema).fault({"a/b~c": 1}) == "params/a~1b~0c must be string"


def test_a_property_may_be_called_like_a_keyword():
    schema = {"type": "object", "properties": {"type": {"type": "string"}, "enum": {}}}
    assert ParameterSchema(schema).fault({"type": 1}) == "params/type must be string"


@pytest.mark.parametrize(
    ("schema", "value", "fault"),
    [
        ({"type": "string", "enum": ["a"]}, True, "must be string"),
        ({"type": "string", "minLength": 2, "enum": ["aa"]}, True, "must be equal to one of the"),
        ({"type": "string", "minLength": 2, "enum": ["aa"]}, "q", "must be equal to one of the"),
        ({"type": "string", "pattern": "^b", "const": "a"}, "q", "must be equal to constant"),
        ({"type": "number", "minimum": 5, "enum": [7]}, 1, "must be equal to one of the allowed"),
        ({"type": "array", "minItems": 2, "enum": [[1]]}, [], "must be equal to one of the"),
        ({"type": "object", "properties": {}, "enum": [{}]}, 1, "must be equal to one of the"),
        (
            {"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null"}]},
            True,
            "must be string, params/r must be equal to one of the allowed values, params/r must",
        ),
        (
            {"anyOf": [{"type": "string", "const": "a", "minLength": 1}, {"type": "null"}]},
            True,
            "must be equal to constant, params/r must be null, params/r must match a schema",
        ),
    ],
)
def test_errors_of_choices_come_before_errors_of_limits(schema, value, fault):
    found = ParameterSchema({"type": "object", "properties": {"r": schema}}).fault({"r": value})
    assert found is not None
    assert found.startswith(f"params/r {fault}")
