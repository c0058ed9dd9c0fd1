from __future__ import annotations

import pytest

from services.net.addresses import is_encrypted_or_local, origin
from services.net.errors import AddressRefused
from services.net.terms import Terms


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("https://Shop.Example/a?b#c", "https://shop.example"),
        ("https://shop.example:443", "https://shop.example"),
        ("http://shop.example:443/", "http://shop.example:443"),
        ("http://u:p@shop.example:80/", "http://shop.example"),
        ("https://bücher.example/", "https://xn--bcher-kva.example"),
        ("http://[::1]:8080/", "http://[::1]:8080"),
        ("https://shop.example:8443@evil.example/", "https://evil.example"),
    ],
)
def test_an_origin_is_the_scheme_the_host_and_the_port(url: str, found: str) -> None:
    assert origin(url) == found


@pytest.mark.parametrize("url", ["", "nowhere", "/path", "https://", "https:///x", "http://a:b/"])
def test_what_names_no_host_has_no_origin(url: str) -> None:
    with pytest.raises(AddressRefused, match="has no host"):
        origin(url)


@pytest.mark.parametrize(
    ("url", "may"),
    [
        ("https://shop.example/", True),
        ("http://localhost:1/", True),
        ("http://LOCALHOST/", True),
        ("http://127.0.0.1/", True),
        ("http://127.9.9.9/", True),
        ("http://[::1]/", True),
        ("http://shop.example/", False),
        ("http://localhost.shop.example/", False),
        ("http://localhost@shop.example/", False),
        ("http://127.0.0.1.shop.example/", False),
        ("http://10.0.0.1/", False),
        ("http://0.0.0.0/", False),
        ("http://[::1/", False),
        ("ftp://shop.example/", False),
        ("", False),
    ],
)
def test_credentials_are_for_https_and_this_machine(url: str, may: bool) -> None:
    assert is_encrypted_or_local(url) is may


def test_terms_keep_credentials_at_their_origin() -> None:
    terms = Terms(answer_bytes=1, private=True, only_origin="https://a.example")
    terms.check_request("https://a.example/x")
    with pytest.raises(AddressRefused, match=r"a request to https://b\.example is refused"):
        terms.check_request("https://b.example/x?secret")
    with pytest.raises(AddressRefused, match=r"http://a\.example is not encrypted"):
        terms.check_request("http://a.example/x")


@pytest.mark.parametrize(
    ("method", "status", "kind", "bound"),
    [
        ("GET", 200, "text/event-stream; charset=utf-8", None),
        ("GET", 500, "text/event-stream", 7),
        ("GET", 200, "application/json", 7),
        ("POST", 200, "text/event-stream", 7),
    ],
)
def test_only_the_stream_that_a_get_opens_may_be_endless(
    method: str, status: int, kind: str, bound: int | None
) -> None:
    assert Terms(answer_bytes=7, endless_events=True).bytes_of(method, status, kind) == bound
    assert Terms(answer_bytes=7).bytes_of(method, status, kind) == 7
