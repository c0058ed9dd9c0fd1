import json
from enum import IntEnum, StrEnum
from typing import Any

import pytest

from services.model.errors import ApiError, UnauthorizedError
from services.presentation.errors import (
    ErrorFields,
    StructuredError,
    map_error,
    model_failure,
    status_name,
    unexpected_error,
)


class Code(IntEnum):
    ONE = 1


class Name(StrEnum):
    HIGH = "high"


class Coded(Exception):
    def __init__(self, message: str, **attributes: Any) -> None:
        super().__init__(message)
        self.__dict__.update(attributes)


@pytest.mark.parametrize(
    ("http_status", "name"),
    [
        (400, "INVALID_ARGUMENT"),
        (401, "UNAUTHENTICATED"),
        (403, "PERMISSION_DENIED"),
        (404, "NOT_FOUND"),
        (409, "ALREADY_EXISTS"),
        (429, "RESOURCE_EXHAUSTED"),
        (500, "INTERNAL"),
        (501, "UNIMPLEMENTED"),
        (503, "UNAVAILABLE"),
        (504, "DEADLINE_EXCEEDED"),
        (418, "INTERNAL"),
        (499, "INTERNAL"),
        (502, "INTERNAL"),
        (None, "INTERNAL"),
        ("429", "INTERNAL"),
        ([429], "INTERNAL"),
    ],
)
def test_an_http_status_has_a_name(http_status: object, name: str) -> None:
    assert status_name(http_status) == name


def test_a_chat_layer_error_keeps_its_status_beside_the_mapped_one() -> None:
    assert map_error(StructuredError("m", 429)) == ErrorFields(
        status="RESOURCE_EXHAUSTED",
        message="m",
        fatal=True,
        meta={"rawError": {"message": "m", "status": 429}, "status": 429},
    )


def test_a_chat_layer_error_without_a_status_is_structured_all_the_same() -> None:
    assert map_error(StructuredError("fetch failed")) == ErrorFields(
        status="INTERNAL", message="fetch failed", meta={"rawError": {"message": "fetch failed"}}
    )


def test_an_object_with_status_and_message_is_structured() -> None:
    assert map_error({"message": "m", "status": 503}).status == "UNAVAILABLE"
    assert map_error({"message": "m", "status": None}).meta == {"rawError": {"message": "m"}}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"message": "m"}, "[object Object]"),
        ({"message": 1, "status": 400}, "[object Object]"),
        ("text", "text"),
        (None, "null"),
        (True, "true"),
        (1.0, "1"),
        (("a",), "('a',)"),
    ],
)
def test_anything_else_is_its_text_without_meta(value: object, message: str) -> None:
    assert map_error(value) == ErrorFields(status="INTERNAL", message=message)


def test_an_exception_without_status_has_its_name_and_codes() -> None:
    assert map_error(ValueError("m")) == ErrorFields(
        status="INTERNAL", message="m", meta={"errorName": "ValueError"}
    )
    assert map_error(Coded("m", exit_code=41, code="E", name="FatalAuthenticationError")).meta == {
        "errorName": "FatalAuthenticationError",
        "exitCode": 41,
        "code": "E",
    }


@pytest.mark.parametrize("exit_code", ["41", True, None])
def test_an_exit_code_that_is_no_number_is_left_out(exit_code: object) -> None:
    assert map_error(Coded("m", exit_code=exit_code)).meta == {"errorName": "Coded"}


def test_an_exception_with_status_is_structured_and_keeps_both() -> None:
    assert map_error(Coded("m", status=404, code=7)) == ErrorFields(
        status="NOT_FOUND",
        message="m",
        meta={
            "errorName": "Coded",
            "code": 7,
            "rawError": {"message": "m", "status": 404},
            "status": 404,
        },
    )
    no_number = map_error(Coded("m", status="429"))
    assert no_number.status == "INTERNAL"
    assert no_number.meta is not None
    assert no_number.meta["status"] == "429"
    assert map_error(Coded("m", status=None)).meta == {
        "errorName": "Coded",
        "rawError": {"message": "m"},
    }


def test_a_name_that_says_what_is_missing_is_not_the_errors_name() -> None:
    assert map_error(ModuleNotFoundError("m", name="numpy")).meta == {
        "errorName": "ModuleNotFoundError"
    }
    assert map_error(Coded("m", name="")).meta == {"errorName": "Coded"}


def test_meta_is_json_whatever_an_exception_keeps_in_its_codes() -> None:
    fields = map_error(Coded("m", code=Code.ONE, status=Name.HIGH))
    assert json.loads(json.dumps(fields.meta)) == fields.meta
    assert fields.meta is not None
    assert (type(fields.meta["code"]), type(fields.meta["status"])) == (int, str)
    fields = unexpected_error(Coded("m", code=ValueError("x"), status=Code.ONE))
    assert fields.meta is not None
    assert (fields.meta["code"], fields.meta["status"]) == ("x", 1)


def test_an_unexpected_exception_is_internal_whatever_its_status() -> None:
    try:
        raise Coded("m", status=404, code="E", exit_code=2)
    except Coded as error:
        fields = unexpected_error(error)
    assert (fields.status, fields.message, fields.fatal) == ("INTERNAL", "m", True)
    assert fields.meta is not None
    stack = fields.meta.pop("stack")
    assert fields.meta == {"errorName": "Coded", "exitCode": 2, "code": "E", "status": 404}
    assert stack.startswith("Traceback")
    assert stack.endswith("Coded: m")
    assert "test_errors.py" in stack


def test_an_unexpected_plain_exception_has_only_name_and_stack() -> None:
    assert unexpected_error(ValueError("m")).meta == {
        "errorName": "ValueError",
        "stack": "ValueError: m",
    }


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        (ApiError(400, "no"), StructuredError("no", 400)),
        (Coded("odd", status="BROKEN"), StructuredError("odd", None)),
        (ValueError("plain"), StructuredError("plain", None)),
    ],
)
def test_failed_request_is_reported_with_its_words_and_http_status(error, failure):
    assert model_failure(error) == failure


def test_refused_credentials_are_raised_for_the_caller_to_ask_for_others():
    body = {"error": {"code": 401, "message": "who are you"}}
    with pytest.raises(UnauthorizedError, match="who are you"):
        model_failure(Coded("x", response={"data": body}))
