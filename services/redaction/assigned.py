"""Secrets known by their place: after a name, a flag or a header, in an address, in a cookie.

Each pattern begins with a literal and searches the text in lower case; the name before a match is
read as a slice of bounded length. So the time is proportional to the length of any text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from services.redaction import values
from services.redaction.kinds import Found, SecretKind

__all__ = ["assigned", "labels_secret", "may_assign", "secret_under"]

_BACK: Final = 48
"""The most characters of a name that are read."""
_READ: Final = 500
"""A longer value goes on behind the match."""
_NAME: Final = "abcdefghijklmnopqrstuvwxyz0123456789_.-"
_MORE: Final = re.compile(r"[^\s\"'`,;&<>\\()\[\]{}|]*+")
_QUOTE: Final = r"\\{0,3}[\"'`]"
_ASSIGN: Final = r"(?:=>|:=|={1,2}|:)"
_TAIL: Final = (
    rf"s?(?:[_\-]?\d{{1,2}})?(?:{_QUOTE})?\]?"
    rf"(?:(?P<sign>\s{{0,4}}{_ASSIGN}\s{{0,4}})|(?P<gap>[ \t]{{1,4}}|,[ \t]{{0,4}}))\[?"
    # A lookahead: the value may hold another name.
    rf"(?=\\{{0,3}}(?P<quote>[\"'`])(?P<quoted>(?:(?!\\{{0,3}}(?P=quote))[^\r\n]){{4,512}})"
    r"|(?P<bare>[^\s\"'`,;&<>\\()\[\]{}|]{4,512}+)(?![(\[]))"
)
_STEMS: Final = {
    stem: re.compile(re.escape(stem) + _TAIL)
    for stem in (
        *("password", "passwd", "passphrase", "pwd", "pass", "secret", "token", "key"),
        *("credential", ":_auth"),
    )
}
_PASSWORDS: Final = ("password", "passwd", "passphrase", "pwd")
_PASS: Final = re.compile(r"(?:^|[_.\-])pass\Z")
_KEYS: Final = re.compile(
    r"(?:api|access|secret|private|account|auth|signing|encryption|master|shared|storage|service"
    r"|licen[cs]e|client|session|admin|webhook|deploy|subscription|app|token)[_.\-]?key\Z"
)
_NO_TOKENS: Final = re.compile(
    r"(?:page|next|continuation|sync|cancel|cancellation|output|prompt|thoughts?|progress|cursor"
    r"|(?:^|[_./\-])(?:input|total|max|min|num|count|pad|eos|bos|unk|mask|special|stop|start|end"
    r"|change|first|last|prev|resume))[_.\-]?\Z"
)
_ENVIRONMENT: Final = re.compile(r"[A-Z][A-Z0-9_]*\Z")


def _holds(name: str) -> tuple[SecretKind, values.Holds] | None:
    """The check for a value under `name`, in lower case; `None` where the value is no secret."""
    if name.startswith("--no-"):  # a switch, which takes no value
        return None
    if name[-1:].isdigit():
        name = name.rstrip("_-0123456789")
    if name.endswith("s") and not name.endswith("ss"):
        name = name[:-1]
    if name.endswith(_PASSWORDS) or _PASS.search(name):
        return SecretKind.PASSWORD, values.password
    if name.endswith("token"):
        if name in ("token", "--token", "-token"):
            return SecretKind.NAMED, values.long_token
        qualifier = name.removesuffix("token")[-24:]
        return None if _NO_TOKENS.search(qualifier) else (SecretKind.NAMED, values.token)
    if name.endswith(("secret", "credential", "_auth")) or _KEYS.search(name):
        return SecretKind.NAMED, values.token
    return None


@lru_cache(maxsize=4096)
def labels_secret(key: str) -> bool:
    """Whether `key` labels the value under it as a secret: both are searched together."""
    name = key.lower()
    return (
        name == "key"
        or name.endswith(("authorization", "cookie"))
        or (any(stem in name for stem in _STEMS) and _holds(name) is not None)
    )


def secret_under(key: str, value: str) -> SecretKind | None:
    """The kind of secret that `value` is under `key` in an object; `None` for no secret."""
    known = _holds(key.lower())
    if known is None or not known[1](value, quoted=True, firm=False):
        return None
    return known[0]


def may_assign(small: str) -> bool:
    """Whether a text in lower case may hold such a secret; quick, False is certain."""
    for hint in _HINTS:
        if hint in small:
            return True
    return any(stem in small and pattern.search(small) for stem, pattern in _STEMS.items())


def assigned(text: str, small: str) -> Iterator[Found]:
    """All such secrets; `small` is `text` in lower case, of the same length."""
    for stem, pattern in _STEMS.items():
        if stem in small:
            end = 0
            for match in pattern.finditer(small):
                found = _named(match, stem, text, small) if match.start() >= end else None
                if found is not None:
                    end = found.end
                    yield found
    for place in _PLACES:
        if any(hint in small for hint in place.hints):
            yield from place.find(text, small)


def _named(match: re.Match[str], stem: str, text: str, small: str) -> Found | None:
    end = match.start() + len(stem)
    before = small[max(0, end - _BACK) : end]
    name = before[len(before.rstrip(_NAME)) :]
    if text[end - len(name) - 1 : end - len(name)] == "\\":
        name = name[1:]  # the letter of an escape: `\nPASSWORD=`
    known = _holds(name)
    flag = name.startswith("-")
    if known is None or (match["gap"] is not None and not flag):
        return None
    quoted = match["quoted"] is not None
    spelled = text[end - len(name) : end].lstrip("-.")
    firm = flag or (match["sign"] == "=" and _ENVIRONMENT.match(spelled) is not None)
    start, stop = match.span("quoted" if quoted else "bare")
    if not quoted:
        stop = start + len(text[start:stop].rstrip(".:"))
    kind, holds = known
    if not holds(text[start:stop], quoted=quoted, firm=firm):
        return None
    more = _MORE.match(text, stop) if stop - start >= _READ else None
    return Found(start, stop if more is None else more.end(), kind)


@dataclass(frozen=True, slots=True)
class _Place:
    """A place other than after a name. Group `v` of the pattern is the secret."""

    kind: SecretKind
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    holds: Callable[[str], bool]

    def find(self, text: str, small: str) -> Iterator[Found]:
        """Where in `text`."""
        for match in self.pattern.finditer(small):
            start, end = match.span("v")
            if self.holds(text[start:end]):
                yield Found(start, end, self.kind)


def _of_command(value: str) -> bool:
    return not value.isdigit() and values.password(value, quoted=False, firm=True)


def _code(value: str) -> bool:
    return len(value) >= 10 and values.generated(value)


_AMP: Final = r"(?:[?&;#]|&amp;|\\u0026)"
_PARAMETER: Final = r"(?P<v>[a-z0-9_\-.~%+/=:|]{8,4096}+)"
_COOKIE: Final = re.compile(
    r"cookies?(?:\\{0,3}[\"'])?(?:\s{0,4}[:=]\s{0,4}|[ \t]{1,4})\[?(?:\\{0,3}[\"'])?"
    r"(?P<pairs>[!#$%&*+.^_`|~\w\-]{1,100}=[^\r\n\"']{4,8192})"
)
_PAIR: Final = re.compile(
    r"(?:^|;\s?)(?P<name>[!#$%&*+.^_`|~\w\-]{1,100})=(?P<v>[^;\s\\]{4,4096}+)"
)
_ATTRIBUTES: Final = frozenset({"path", "domain", "expires", "max-age", "samesite", "priority"})


@dataclass(frozen=True, slots=True)
class _Cookies:
    """The values of cookies, without the attributes beside them."""

    hints: tuple[str, ...] = ("cookie",)

    def find(self, text: str, small: str) -> Iterator[Found]:
        """Where in `text`."""
        match = _COOKIE.search(small)
        while match is not None:
            start, end = match.span("pairs")
            # Another header on the same line has pairs of its own.
            following = small.find("cookie:", start, end)
            end = end if following < 0 else following
            for pair in _PAIR.finditer(small[start:end]):
                low, high = (start + at for at in pair.span("v"))
                if pair["name"] not in _ATTRIBUTES and values.cookie(text[low:high]):
                    yield Found(low, high, SecretKind.COOKIE)
            match = _COOKIE.search(small, max(end, match.start() + 1))


_PLACES: Final[tuple[_Place | _Cookies, ...]] = (
    _Place(
        SecretKind.BEARER,
        ("authorization",),
        re.compile(
            r"authorization(?:\\{0,3}[\"'])?\]?\s{0,4}[:=]\s{0,4}(?:\\{0,3}[\"'])?\[?\s?"
            r"(?:\\{0,3}[\"'])?(?:(?:bearer|basic|token|apikey|api-key|key|bot|negotiate|ntlm|hawk"
            r"|splunk|geniekey|sharedkey\s{1,2}[\w.\-]{1,64}:|sso-key)\s{0,4})"
            r"(?P<v>[a-z0-9._~+/=:\-]{6,8192}+)"
        ),
        values.credential,
    ),
    _Place(
        SecretKind.BEARER,
        ("authorization",),
        re.compile(
            r"authorization(?:\\{0,3}[\"'])?\]?\s{0,4}[:=]\s{0,4}(?:\\{0,3}[\"'])?\[?\s?"
            r"(?:\\{0,3}[\"'])?(?P<v>[a-z0-9._~+/=\-]{16,8192}+)(?![ (\[])"
        ),
        values.generated,
    ),
    _Place(
        SecretKind.BEARER,
        ("authorization",),
        re.compile(
            r"authorization(?:\\{0,3}[\"'])?\s{0,4}[:=][^\r\n]{0,512}?"
            r"\b(?:response|signature|mac|oauth_token|auth)=(?:\\{0,3}[\"'])?"
            r"(?P<v>[a-z0-9._~+/=%\-]{16,2048}+)"
        ),
        values.generated,
    ),
    _Place(
        SecretKind.BEARER,
        ("bearer",),
        re.compile(r"\bbearer\s{1,4}(?P<v>[a-z0-9._~+/=\-]{8,8192}+)"),
        values.bearer,
    ),
    _Place(
        SecretKind.BASIC,
        ("basic",),
        re.compile(r"\bbasic\s{1,4}(?P<v>[a-z0-9+/]{6,1024}+={0,2})"),
        values.basic,
    ),
    _Place(
        SecretKind.BASIC,
        ("://",),
        re.compile(
            r"://[^\s/@:\"'<>{}$\\]{0,100}:(?P<v>[^\s/@\"'<>{}$\\][^\s/@\"'<>{}\\]{0,199})@[\w\[]"
        ),
        values.user_password,
    ),
    _Place(
        SecretKind.BASIC,
        ("://",),
        re.compile(r"://(?P<v>[\w.~%\-]{20,500}+):?@[\w\[]"),
        values.generated,
    ),
    _Place(
        SecretKind.NAMED,
        ("key=",),
        re.compile(rf"{_AMP}key={_PARAMETER}"),
        values.generated,
    ),
    _Place(
        SecretKind.NAMED,
        ("sig=", "signature=", "code=", "credential=", "ticket=", "jwt=", "assertion=", "auth="),
        re.compile(
            rf"{_AMP}(?:[\w.\-]{{0,32}}?[_.\-])?"
            rf"(?:sig|signature|code|credential|ticket|jwt|assertion|auth)={_PARAMETER}"
        ),
        _code,
    ),
    _Place(
        SecretKind.NAMED,
        ("token=", "secret=", "key="),
        re.compile(
            rf"{_AMP}(?:[\w.\-]{{0,32}}?[_.\-])?(?:access_?|refresh_?|id_?|auth_?|api_?|client_?)?"
            rf"(?:token|secret|key)={_PARAMETER}"
        ),
        _code,
    ),
    _Place(
        SecretKind.PASSWORD,
        ("mysql", "mariadb", "sshpass"),
        re.compile(
            r"\b(?:mysql(?:dump|admin|import|sh)?|mariadb(?:-dump|-admin)?|sshpass)\b"
            r"[^\r\n;|&]{0,200}?\s-p(?:\\{0,3}[\"'])?(?P<v>[^\s\"'\\;|&]{4,128}+)"
        ),
        _of_command,
    ),
    _Place(
        SecretKind.PASSWORD,
        ("sshpass", "mongo", "redis-cli", "docker login", "az login", "ldap"),
        re.compile(
            r"\b(?:sshpass|mongo(?:sh|dump|restore|export|import)?|redis-cli|docker\slogin|az\slogin"
            r"|ldap(?:search|modify|add))\b[^\r\n;|&]{0,200}?\s-(?:p|a|w)\s{1,2}(?:\\{0,3}[\"'])?"
            r"(?P<v>[^\s\"'\\;|&]{4,128}+)"
        ),
        _of_command,
    ),
    _Place(
        SecretKind.PASSWORD,
        ("curl", "wget", "http "),
        re.compile(
            r"\b(?:curl|wget|https?)\b[^\r\n]{0,400}?\s(?:-u|--user|-a|--auth)[ =]?"
            r"(?:\\{0,3}[\"'])?[^\s:\"'\\]{1,64}:(?P<v>[^\s\"'\\]{4,128}+)"
        ),
        _of_command,
    ),
    _Place(
        SecretKind.PASSWORD,
        ("login ",),
        re.compile(r"\blogin\s{1,4}\S{1,100}\s{1,4}password\s{1,4}(?P<v>\S{4,200}+)"),
        _of_command,
    ),
    _Cookies(),
)
_HINTS: Final = tuple(dict.fromkeys(hint for each in _PLACES for hint in each.hints))
