"""Which way to the API the environment asks for."""

import pytest

from services.model.auth import (
    AuthError,
    AuthType,
    auth_from_environment,
    auth_type_from_environment,
    parse_custom_headers,
)


@pytest.mark.parametrize(
    ("variables", "kind"),
    [
        ({}, None),
        ({"GEMINI_API_KEY": "k"}, AuthType.USE_GEMINI),
        ({"GEMINI_API_KEY": "k", "GOOGLE_GEMINI_BASE_URL": "http://g"}, AuthType.GATEWAY),
        ({"GOOGLE_GEMINI_BASE_URL": "x", "GOOGLE_GENAI_USE_VERTEXAI": "true"}, "vertex-ai"),
        ({"GOOGLE_GENAI_USE_VERTEXAI": "true", "GOOGLE_GENAI_USE_GCA": "true"}, "oauth-personal"),
        ({"GOOGLE_GENAI_USE_GCA": "1", "CLOUD_SHELL": "true"}, "compute-default-credentials"),
        ({"GEMINI_CLI_USE_COMPUTE_ADC": "true"}, "compute-default-credentials"),
    ],
)
def test_the_way_is_chosen_in_upstreams_order(variables, kind):
    assert auth_type_from_environment(variables) == kind


@pytest.mark.parametrize(
    ("variables", "text"),
    [
        ({}, "No way to reach the API is set"),
        ({"GOOGLE_GENAI_USE_VERTEXAI": "true", "GOOGLE_CLOUD_PROJECT": "p"}, "CLOUD_LOCATION"),
        ({"GOOGLE_GEMINI_BASE_URL": "nowhere"}, "Invalid custom base URL: nowhere"),
        (
            {"GOOGLE_GEMINI_BASE_URL": "http://g.example:80/v"},
            r"GOOGLE_GEMINI_BASE_URL: http://g\.example is not encrypted.*use its https://",
        ),
        (
            {
                "GOOGLE_GENAI_USE_VERTEXAI": "true",
                "GOOGLE_API_KEY": "k",
                "GOOGLE_VERTEX_BASE_URL": "http://localhost.g.example",
            },
            r"GOOGLE_VERTEX_BASE_URL: http://localhost\.g\.example is not encrypted",
        ),
    ],
)
def test_an_unsupported_sign_in_names_the_supported_ones(variables, text):
    with pytest.raises(AuthError, match=text):
        auth_from_environment(variables)


@pytest.mark.parametrize(
    ("variables", "kind"),
    [
        ({"GOOGLE_GENAI_USE_GCA": "true"}, AuthType.LOGIN_WITH_GOOGLE),
        ({"CLOUD_SHELL": "true"}, AuthType.COMPUTE_ADC),
    ],
)
def test_an_account_needs_no_key(variables, kind):
    auth = auth_from_environment({**variables, "GEMINI_CLI_CUSTOM_HEADERS": "X-Mine: 1"})
    assert (auth.type, auth.api_key, auth.headers) == (kind, None, {"X-Mine": "1"})


def test_the_old_name_of_a_cloud_machine_is_refused():
    with pytest.raises(AuthError, match=r"Unsupported authType: cloud-shell\. Supported: "):
        auth_from_environment({}, AuthType.LEGACY_CLOUD_SHELL)


@pytest.mark.parametrize("url", ["http://localhost:1", "http://127.0.0.1:2", "http://[::1]:3"])
def test_a_gateway_on_this_machine_needs_no_encryption(url):
    assert auth_from_environment({"GOOGLE_GEMINI_BASE_URL": url}).base_url == url


def test_a_key_goes_to_the_api_itself():
    auth = auth_from_environment({"GEMINI_API_KEY": "secret", "GOOGLE_GENAI_API_VERSION": "v1"})
    assert (auth.api_key, auth.vertexai, auth.base_url) == ("secret", False, None)
    assert auth.api_version == "v1"
    assert "secret" not in repr(auth)


def test_vertex_takes_a_project_or_a_key_and_prefers_the_key():
    variables = {
        "GOOGLE_GENAI_USE_VERTEXAI": "true",
        "GOOGLE_CLOUD_PROJECT_ID": "p",
        "GOOGLE_CLOUD_LOCATION": "eu",
        "GOOGLE_VERTEX_BASE_URL": "https://v.example",
    }
    auth = auth_from_environment(variables)
    assert (auth.vertexai, auth.project, auth.location) == (True, "p", "eu")
    assert (auth.api_key, auth.base_url) == (None, "https://v.example")
    keyed = auth_from_environment({**variables, "GOOGLE_API_KEY": "k"})
    assert (keyed.api_key, keyed.project, keyed.location) == ("k", None, None)


def test_a_bearer_key_is_a_header_except_for_a_gateway():
    bearer = {"GEMINI_API_KEY": "k", "GEMINI_API_KEY_AUTH_MECHANISM": "bearer"}
    assert auth_from_environment(bearer).headers == {"Authorization": "Bearer k"}
    gateway = auth_from_environment({**bearer, "GOOGLE_GEMINI_BASE_URL": "https://g"})
    assert gateway.headers == {}


@pytest.mark.parametrize(
    ("text", "headers"),
    [
        (None, {}),
        ("A: 1, B:2", {"A": "1", "B": "2"}),
        ("Accept: a, b, C: d:e", {"Accept": "a, b", "C": "d:e"}),
        ("nothing, : empty", {}),
    ],
)
def test_custom_headers_split_only_before_a_name(text, headers):
    assert parse_custom_headers(text) == headers


@pytest.mark.parametrize(
    ("variables", "url"),
    [
        ({"GOOGLE_CLOUD_LOCATION": "us"}, "https://aiplatform.us.rep.googleapis.com"),
        ({"GOOGLE_CLOUD_LOCATION": "eu"}, "https://aiplatform.eu.rep.googleapis.com"),
        ({"GOOGLE_CLOUD_LOCATION": "europe-west1"}, None),
        ({"GOOGLE_CLOUD_LOCATION": "eu", "GOOGLE_VERTEX_BASE_URL": "https://v"}, "https://v"),
    ],
)
def test_a_location_of_several_regions_has_an_address_of_its_own(variables, url):
    auth = auth_from_environment({**variables, "GOOGLE_API_KEY": "k"}, AuthType.USE_VERTEX_AI)
    assert auth.base_url == url
