"""Parses and normalises `http` and `https` URLs like JavaScript's `URL`.

Source: the WHATWG URL standard; core `tools/web-fetch.ts` (which words of a prompt are URLs).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from ipaddress import IPv6Address
from itertools import combinations
from typing import Final
from urllib.parse import quote, unquote_to_bytes

import idna

from services.tools.texts import JS_SPACE

__all__ = ["InvalidUrl", "WebUrl", "normalized", "parse_prompt", "parse_url", "raw_github_url"]

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_WEB_PORTS: Final = {"http": 80, "https": 443}
_OTHER_SPECIAL: Final = frozenset({"ws", "wss", "ftp"})
_FORBIDDEN_IN_HOSTS: Final = re.compile(r"[\x00-\x20#%/:<>?@\[\\\]^|\x7f]")
_FORBIDDEN_OPAQUE: Final = re.compile(r"[\x00\t\n\r #/:<>?@\[\\\]^|]")
_NUMBER: Final = re.compile(r"0x[0-9a-f]*|[0-9]+")
_DOTS: Final = frozenset({".", "%2e"})
_DOUBLE_DOTS: Final = frozenset({"..", ".%2e", "%2e.", "%2e%2e"})
_BLOB: Final = re.compile(r"^/([^/]+/[^/]+)/blob/")
# The characters of each part that stay, although `quote` would encode them.
_KEPT_IN_FRAGMENT: Final = "!#$%&'()*+,/:;=?@[\\]^{|}~"
_KEPT_IN_QUERY: Final = "!$%&()*+,/:;=?@[\\]^`{|}~"
_KEPT_IN_PATH: Final = "!$%&'()*+,/:;=@[\\]^|~"
_KEPT_IN_USER: Final = "!$%&'()*+,~"


class InvalidUrl(ValueError):
    """Text that is not a URL."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebUrl:
    """A normalised `http` or `https` URL. `port` is empty for the scheme's default port."""

    scheme: str
    user: str
    host: str
    port: str
    path: str
    query: str
    fragment: str

    @property
    def href(self) -> str:
        """The URL as text."""
        port = f":{self.port}" if self.port else ""
        return f"{self.scheme}://{self.user}{self.host}{port}{self.path}{self.query}{self.fragment}"

    @property
    def is_address(self) -> bool:
        """Whether the host is an address, not a name."""
        return self.host.startswith("[") or bool(re.fullmatch(r"[0-9.]+", self.host))


def parse_url(text: str) -> WebUrl | None:
    """Parse `text`; return `None` for a valid URL of another scheme.

    Raises:
        InvalidUrl: `text` is not a URL.
    """
    text = re.sub(r"[\t\n\r]", "", text.strip("".join(map(chr, range(0x21)))))
    match = _SCHEME.match(text)
    if match is None:
        raise InvalidUrl(text)
    scheme, rest = match[0][:-1].lower(), text[match.end() :]
    if scheme not in _WEB_PORTS:
        _check_other(scheme, rest)
        return None
    before, mark, fragment = rest.partition("#")
    before, question, query = before.partition("?")
    authority, _, path = before.replace("\\", "/").lstrip("/").partition("/")
    user, _, place = authority.rpartition("@")
    host, port = _split_port(place)
    if not host:
        raise InvalidUrl(text)
    return WebUrl(
        scheme=scheme,
        user=_user(user),
        host=_host(host),
        port=_port(port, _WEB_PORTS[scheme]),
        path=_path(path),
        query=f"?{_encoded(query, _KEPT_IN_QUERY)}" if query else question,
        fragment=f"#{_encoded(fragment, _KEPT_IN_FRAGMENT)}" if fragment else mark,
    )


def _check_other(scheme: str, rest: str) -> None:
    """Check a URL of another scheme, which is not fetched."""
    before = re.split(r"[?#]", rest)[0]
    if scheme in _OTHER_SPECIAL:
        authority = before.replace("\\", "/").lstrip("/").partition("/")[0]
        host, port = _split_port(authority.rpartition("@")[2])
        if not host:
            raise InvalidUrl(rest)
        _host(host)
        _port(port)
    elif scheme == "file":
        place = before.replace("\\", "/")
        host = place[2:].partition("/")[0] if place.startswith("//") else ""
        if re.fullmatch(r"[A-Za-z][:|]", host) or not host:
            return
        if "@" in host or (not host.endswith("]") and ":" in host):
            raise InvalidUrl(rest)
        _host(host)
    elif before.startswith("//"):
        host, port = _split_port(before[2:].partition("/")[0].rpartition("@")[2])
        if host.startswith("["):
            _ipv6(host)
        elif _FORBIDDEN_OPAQUE.search(host) or (not host and port):
            raise InvalidUrl(rest)
        _port(port)


def _split_port(place: str) -> tuple[str, str]:
    host, colon, port = place.rpartition(":")
    if not colon or "]" in port:
        return place, ""
    return host, port


def _port(port: str, usual: int | None = None) -> str:
    if not port:
        return ""
    if not (port.isascii() and port.isdecimal()) or int(port) > 0xFFFF:
        raise InvalidUrl(port)
    return "" if int(port) == usual else str(int(port))


def _host(host: str) -> str:
    if host.startswith("["):
        return _ipv6(host)
    try:
        name = idna.uts46_remap(unquote_to_bytes(host).decode(errors="replace"), std3_rules=False)
        name = ".".join(map(_ascii_label, re.split("[.\u3002\uff0e\uff61]", name)))
        labels = name.removesuffix(".").split(".")
        for label in labels:
            _check_label(label)
    except UnicodeError as error:
        raise InvalidUrl(host) from error
    if not name or _FORBIDDEN_IN_HOSTS.search(name):
        raise InvalidUrl(host)
    return _ipv4(labels) if _NUMBER.fullmatch(labels[-1]) else name


def _ascii_label(label: str) -> str:
    if label.isascii():
        return label
    if label.startswith("xn--"):
        raise UnicodeError(label)
    return f"xn--{label.encode('punycode').decode()}"


def _check_label(label: str) -> None:
    """Check that a label in Punycode stands for a name that has to be written so.

    Raises:
        UnicodeError: it does not.
    """
    if label.startswith("xn--"):
        name = label.removeprefix("xn--").encode().decode("punycode")
        if name.isascii() or idna.uts46_remap(name, std3_rules=False) != name:
            raise UnicodeError(label)


def _ipv6(host: str) -> str:
    if not host.endswith("]") or "%" in host:
        raise InvalidUrl(host)
    try:
        address = IPv6Address(host[1:-1])
    except ValueError as error:
        raise InvalidUrl(host) from error
    return f"[{_compressed(address)}]"


def _compressed(address: IPv6Address) -> str:
    """The shortest form without dots: the standard writes mapped addresses in hexadecimal too."""
    pieces = [int(piece, 16) for piece in address.exploded.split(":")]
    runs = [
        (end - start, -start)
        for start, end in combinations(range(9), 2)
        if end - start > 1 and not any(pieces[start:end])
    ]
    words = [f"{piece:x}" for piece in pieces]
    if not runs:
        return ":".join(words)
    length, start = max(runs)
    return f"{':'.join(words[:-start])}::{':'.join(words[-start + length :])}"


def _ipv4(labels: list[str]) -> str:
    numbers: list[int] = []
    if len(labels) > 4:
        raise InvalidUrl(".".join(labels))
    for label in labels:
        if not _NUMBER.fullmatch(label):
            raise InvalidUrl(label)
        try:
            numbers.append(_number(label))
        except ValueError as error:
            raise InvalidUrl(label) from error
    *first, last = numbers
    if any(number > 255 for number in first) or last >= 256 ** (5 - len(numbers)):
        raise InvalidUrl(".".join(labels))
    value = last + sum(number * 256 ** (3 - place) for place, number in enumerate(first))
    return ".".join(str(value >> shift & 255) for shift in (24, 16, 8, 0))


def _number(label: str) -> int:
    if label.startswith("0x"):
        return int(label[2:] or "0", 16)
    return int(label, 8) if label.startswith("0") else int(label)


def _user(text: str) -> str:
    name, _, password = text.partition(":")
    name, password = _encoded(name, _KEPT_IN_USER), _encoded(password, _KEPT_IN_USER)
    if not name and not password:
        return ""
    return f"{name}:{password}@" if password else f"{name}@"


def _path(path: str) -> str:
    steps: list[str] = []
    given = path.split("/")
    for place, step in enumerate(given):
        last = place == len(given) - 1
        if step.lower() in _DOUBLE_DOTS:
            if steps:
                steps.pop()
        elif step.lower() not in _DOTS:
            steps.append(_encoded(step, _KEPT_IN_PATH))
            continue
        if last:
            steps.append("")
    return "/" + "/".join(steps)


def _encoded(text: str, kept: str) -> str:
    return quote(text.encode(errors="replace"), safe=kept)


def normalized(url: WebUrl) -> WebUrl:
    """`url` without a slash at the end of its path, for comparing pages."""
    if len(url.path) > 1 and url.path.endswith("/"):
        return replace(url, path=url.path[:-1])
    return url


def raw_github_url(url: WebUrl) -> WebUrl:
    """The URL of the text of a file shown on GitHub; any other URL unchanged."""
    if url.host != "github.com" or "/blob/" not in url.path:
        return url
    path = _BLOB.sub(r"/\1/", url.path)
    return replace(url, host="raw.githubusercontent.com", path=path)


def parse_prompt(text: str) -> tuple[list[WebUrl], list[str]]:
    """The URLs among the words of `text`, and the errors of invalid ones."""
    urls: list[WebUrl] = []
    faults: list[str] = []
    for word in re.split(JS_SPACE, text):
        if "://" not in word:
            continue
        try:
            url = parse_url(word)
        except InvalidUrl:
            faults.append(f'Malformed URL detected: "{word}".')
            continue
        if url is None:
            faults.append(
                f'Unsupported protocol in URL: "{word}". Only http and https are supported.'
            )
        else:
            urls.append(url)
    return urls, faults
