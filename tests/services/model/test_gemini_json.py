"""JSON between us and the SDK, accessors, and the names of broken connections."""

import errno
import socket
import ssl

import httpx
import pytest
from google.genai import types

from services.model.errors import ApiError
from services.model.parts import function_calls, response_text
from services.model.sdk_json import bytes_of, parse_leniently, plain_json
from services.model.transport_errors import api_error, network_error


def response(*parts):
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}}]}


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("", b""),
        ("+/8=", b"\xfb\xff"),
        ("-_8", b"\xfb\xff"),
        ("ab+/cd==", b"i\xbf\xbfq"),
        ("a", None),
        ("no way", None),
        ("é", None),
    ],
)
def test_base64_of_either_alphabet_is_decoded(text, data):
    assert bytes_of(text) == data


def test_unknown_fields_are_dropped_and_the_original_is_left_alone():
    value = {"name": "f", "zoo": 1, "parameters": {"type": "OBJECT", "odd": [1]}}
    parsed = parse_leniently(types.FunctionDeclaration, value)
    assert (parsed.name, parsed.parameters.type) == ("f", types.Type.OBJECT)
    assert value == {"name": "f", "zoo": 1, "parameters": {"type": "OBJECT", "odd": [1]}}


def test_wrong_types_are_refused_with_their_place():
    with pytest.raises(ApiError, match="'parts\\.1\\.text'") as caught:
        parse_leniently(types.Content, {"parts": [{"text": "a"}, {"text": 5, "zoo": 1}]})
    assert caught.value.status == 400


def test_bytes_enums_and_tuples_become_json():
    value = {"a": (b"\xfb\xff",), "b": types.FinishReason.STOP, "c": [None, 1.5]}
    assert plain_json(value) == {"a": ["+/8="], "b": "STOP", "c": [None, 1.5]}


def test_the_two_readings_of_a_text_differ_as_upstreams_do():
    call = {"functionCall": {"name": "f"}}
    assert response_text(response(call)) == ""
    assert response_text({"candidates": [{}]}) is None
    assert function_calls(response({"text": "a"}, call)) == [{"name": "f"}]
    assert function_calls(response()) == []


def caused(error, cause):
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "answering", "code"),
    [
        (caused(httpx.ConnectError(""), OSError(errno.ECONNREFUSED, "")), False, "ECONNREFUSED"),
        (caused(httpx.ConnectError(""), socket.gaierror(-2, "")), False, "ENOTFOUND"),
        (
            caused(httpx.ConnectError(""), socket.gaierror(socket.EAI_AGAIN, "")),
            False,
            "EAI_AGAIN",
        ),
        (
            caused(
                httpx.ConnectError(""),
                caused(OSError("all"), ExceptionGroup("g", [OSError(errno.EHOSTUNREACH, "")])),
            ),
            False,
            "EHOSTUNREACH",
        ),
        (httpx.ConnectTimeout(""), False, "UND_ERR_CONNECT_TIMEOUT"),
        (httpx.ReadTimeout(""), False, "UND_ERR_HEADERS_TIMEOUT"),
        (httpx.ReadTimeout(""), True, "UND_ERR_BODY_TIMEOUT"),
        (httpx.WriteTimeout(""), False, "ETIMEDOUT"),
        (caused(httpx.ReadError(""), ConnectionResetError(errno.ECONNRESET, "")), True, None),
        (httpx.RemoteProtocolError("closed"), True, "UND_ERR_SOCKET"),
        (httpx.ReadError(""), True, "ECONNRESET"),
    ],
)
def test_a_broken_connection_has_nodes_code(error, answering, code):
    converted = network_error(error, answering=answering)
    assert converted.code == (code or "ECONNRESET")
    assert converted.name == ("TypeError" if answering else "Error")
    assert converted.cause is error


def test_a_bad_record_has_the_code_of_node():
    broken = ssl.SSLError(1, "")
    broken.reason = "SSLV3_ALERT_BAD_RECORD_MAC"
    converted = network_error(caused(httpx.ReadError(""), broken), answering=True)
    assert converted.code == "ERR_SSL_SSLV3_ALERT_BAD_RECORD_MAC"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"error": {"code": 418, "message": "ü"}}, '{"error":{"code":418,"message":"ü"}}'),
        (
            {"message": "<html>", "status": "Teapot"},
            '{"error":{"message":"<html>","code":418,"status":"Teapot"}}',
        ),
        (["odd"], '{"error":{"message":"[\'odd\']","code":418,"status":"Teapot"}}'),
    ],
)
def test_a_refusal_that_is_not_the_apis_json_is_wrapped(body, text):
    converted = api_error(418, "Teapot", body, answering=False)
    assert (converted.status, str(converted)) == (418, text)
    assert str(api_error(418, "Teapot", body, answering=True)) == f"got status: Teapot. {text}"
