"""User names in home paths. The name is the secret; the rest of the path stays.

`/root` and the names that images, build servers and examples use are not secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from services.redaction.kinds import Found, SecretKind
from services.redaction.masks import is_masked

__all__ = ["names_in_homes"]

_NOT_IN_NAMES: Final = r"/\\\s\"'<>:|*?$`{}()\[\],;&=#%!@^~+\x00-\x1f"
_UNIX: Final = re.compile(
    r"(?:(?<![\w.~\-%)>\]}*/])|(?<=file://)|(?<=[\\][ntr]))(?:/var)?/(?:home|Users)/"
    rf"([^.{_NOT_IN_NAMES}][^{_NOT_IN_NAMES}]{{0,63}}+)(?P<rest>/?)"
)
_WINDOWS: Final = re.compile(
    r"(?i)(?<![A-Za-z0-9])[a-z]:(?:\\{1,4}|/)users(?:\\{1,4}|/)"
    r"([^\\/:*?\"'<>|\r\n\t{}$%]{1,40})(?P<rest>[\\/]?)"
)
_IMPERSONAL: Final = frozenset(
    {
        *("user", "users", "username", "user_name", "user-name", "your", "your_name"),
        *("yourname", "yourusername", "your-username", "you", "me", "name", "someone"),
        *("somebody", "person", "people", "owner", "admin", "administrator", "root", "guest"),
        *("public", "default", "shared", "anonymous", "nobody", "all", "app", "apps"),
        *("application", "dev", "developer", "demo", "test", "tester", "testuser", "example"),
        *("examples", "sample", "foo", "bar", "baz", "qux", "alice", "bob", "carol", "charlie"),
        *("dave", "eve", "mallory", "jdoe", "johndoe", "janedoe", "john", "jane", "doe"),
        *("runner", "runneradmin", "node", "ubuntu", "debian", "fedora", "centos", "ec2-user"),
        *("vagrant", "docker", "codespace", "coder", "vscode", "gitpod", "jovyan", "circleci"),
        *("travis", "jenkins", "buildkite", "git", "www", "www-data", "linuxbrew", "nonroot"),
        *("sandbox", "agent", "worker", "build", "builder", "ci", "container", "workspace"),
        *("project", "projects", "documents", "index", "about", "page", "pages", "feed"),
        *("settings", "login", "dashboard"),
    }
)


def names_in_homes(text: str) -> Iterator[Found]:
    """The user names in home paths of `text`."""
    if "/home/" in text or "/Users/" in text:
        for match in _UNIX.finditer(text):
            name = match[1] if match["rest"] else match[1].rstrip(".")
            # A dot without anything after it is a file's: `/home/notes.md`.
            if match["rest"] or "." not in name:
                yield from _person(name, match.start(1))
    if ":\\" in text or ":/" in text:
        for match in _WINDOWS.finditer(text):
            name = match[1] if match["rest"] else match[1].partition(" ")[0].rstrip(".,;)")
            yield from _person(name, match.start(1))


def _person(name: str, start: int) -> Iterator[Found]:
    if (
        name
        and name.lower().rstrip("0123456789") not in _IMPERSONAL
        and name[0].isalpha()
        and not is_masked(name)
    ):
        yield Found(start, start + len(name), SecretKind.HOME)
