"""Writes the traffic that a test of a user had with models as an HTTP cassette.

The file is `recorded/<test>.yaml` below the first folder of the project's corpus, or below
`cassettes` without a project file. It holds the calls of models alone. Credentials are removed: of
the headers only those remain that a replay reads, of an address its path; what the request sent as
a key, and the secrets of the environment, are masked wherever the bodies repeat them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, urlsplit, urlunsplit

import yaml

from harness.cassette.find import SUFFIXES
from harness.cassette.secrets import secret_problems
from harness.errors import HarnessError
from harness.http.events import parse_event_stream
from harness.http.exchanges import ExchangeSkipped, HttpRecording, RawExchange
from harness.http.formats import read_exchanges
from harness.http.recorded_yaml import parse_documents
from harness.http.vcr_cassettes import is_the_api, recording_of
from harness.live.secrets import Scrubber
from harness.project import project_here
from harness.whole_file import writable_folder, write_asked_for
from services.json_values import parse_json
from services.model.event_stream import event_stream
from services.providers.wire.server import WireServer
from services.wire import Json, JsonObject, js_json
from services.workspace import Workspace

__all__ = ["KeptTraffic", "keep_traffic"]

_FOLDER: Final = "recorded"
_WITHOUT_PROJECT: Final = "cassettes"
_MEND: Final = "the corpus of parity.toml"
_API: Final = "generativelanguage.googleapis.com"
_KEPT_HEADERS: Final = ("content-type", "retry-after", "retry-after-ms")
_CREDENTIAL: Final = re.compile(r"(?i)key|auth|token|secret|password|credential|cookie|signature")
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9._+=-]+")
_LONGEST: Final = 120
"""Characters of a file's name, without its suffix."""
_TOP: Final = "# Recorded from {}, by PARITY_RECORD. vcrpy's format; secrets are masked.\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptTraffic:
    """What became of the traffic of one test."""

    lines: tuple[str, ...] = ()
    """For the user; none where the test called no model."""
    file: Path | None = None
    """The file that was written."""
    lost: bool = False
    """Whether a recording was lost."""


def keep_traffic(
    test: str, traffic: str, variables: Mapping[str, str], *, replace: bool
) -> KeptTraffic:
    """Write the calls of models in `traffic`, if there are any.

    Args:
        test: The id of the test, as pytest has it.
        traffic: All HTTP traffic of the test, in vcrpy's format.
        variables: The environment, whose secrets are masked.
        replace: Whether a file that exists is written anew.
    """
    documents = parse_documents(traffic, Path(test))
    calls = list(_calls(documents))
    if not calls:
        return KeptTraffic()
    try:
        file = _folder() / _FOLDER / f"{_file_name(test)}.yaml"
        if file.exists() and not replace:
            line = f"kept as it is: {_shown(file)} (PARITY_RECORD=replace records it anew)"
            return KeptTraffic(lines=(line,))
        sent = {
            f"the token in {name}": value
            for call in calls
            for name, value in _credentials(call, _request(documents, call))
        }
        scrubber = Scrubber({**variables, **sent}, Workspace.at(Path(), Path.home()))
        document = {"interactions": [_interaction(call, scrubber) for call in calls], "version": 1}
        recording = recording_of([document], file)
        if not isinstance(recording, HttpRecording):
            return KeptTraffic(lines=(f"not recorded: {test}: {recording.reason}",))
        scrubber.refuse_remains(document, "the recording")
        # The name makes `parity run FILE` and `parity run` call the case alike; vcrpy ignores it.
        named = f"{_TOP.format(scrubber.text(test))}name: {_FOLDER}/{file.stem}\n"
        text = named + yaml.safe_dump(document, allow_unicode=True, sort_keys=True, width=100)
        left = secret_problems(file, text)
        if left:
            return _lost(test, str(left[0]))
        writable_folder(file.parent, _MEND)
        write_asked_for(file, text, _MEND)
    except HarnessError as error:
        return _lost(test, str(error))
    count = len(recording.exchanges)
    lines = [f"written: {_shown(file)} ({count} call{'' if count == 1 else 's'} of a model)"]
    lines += [f"  a replay leaves out: {reason}" for reason in recording.skipped]
    return KeptTraffic(lines=tuple(lines), file=Path(_shown(file)))


def _lost(test: str, why: str) -> KeptTraffic:
    return KeptTraffic(lines=(f"not recorded: {test}: {why}",), lost=True)


def _calls(documents: list[Json]) -> Iterator[RawExchange]:
    """Yield the calls of models."""
    read = read_exchanges(documents)
    for raw in () if read is None else read[1]:
        if isinstance(raw, RawExchange) and WireServer.serves(raw.method, raw.url):
            yield raw


def _folder() -> Path:
    project = project_here()
    if project is None:
        return Path.cwd() / _WITHOUT_PROJECT
    folders = (name for name in project.corpus if Path(name).suffix not in SUFFIXES)
    return project.place(next(folders, _WITHOUT_PROJECT))


def _file_name(test: str) -> str:
    """Return `tests.test_shop.test_order-tea` for `tests/test_shop.py::test_order[tea]`."""
    path, _, rest = test.partition("::")
    words = re.sub(r"\[(.*)\]$", r"-\1", rest, flags=re.DOTALL)
    plain = f"{path.removesuffix('.py').replace('/', '.')}.{words.replace('::', '.')}"
    name = _NOT_IN_NAMES.sub("_", plain).strip(".")
    if name != plain or len(name) > _LONGEST:
        # What was replaced or cut may be all that two tests differ in.
        name = f"{name[:_LONGEST]}-{hashlib.sha256(test.encode()).hexdigest()[:8]}"
    return name


def _shown(file: Path) -> str:
    here = Path.cwd()
    return str(file.relative_to(here) if file.is_relative_to(here) else file)


def _request(documents: list[Json], call: RawExchange) -> JsonObject:
    found: JsonObject = documents[0]["interactions"][call.index]["request"]
    return found


def _credentials(call: RawExchange, request: JsonObject) -> Iterator[tuple[str, str]]:
    """Yield what the request sent as a key, each with its place."""
    address = urlsplit(call.url)
    pairs = [("the address", text) for text in (address.username, address.password) if text]
    pairs += parse_qsl(address.query)
    for name, values in (request.get("headers") or {}).items():
        pairs += [(name, str(each)) for each in (values if isinstance(values, list) else [values])]
    for name, value in pairs:
        if name == "the address" or _CREDENTIAL.search(name):
            yield name, value
            for number, word in enumerate(re.split(r"[\s;=]+", value)):
                yield f"{name} ({number})", word


def _interaction(call: RawExchange, scrubber: Scrubber) -> JsonObject:
    body = call.body.decode("utf-8", "replace")
    headers = {name: [call.headers[name]] for name in _KEPT_HEADERS if name in call.headers}
    return {
        "request": {
            "method": call.method,
            "uri": scrubber.text(_address(call.url)),
            "headers": {"content-type": ["application/json"]},
            "body": js_json(scrubber.value(call.request)),
        },
        "response": {
            "status": {"code": call.status, "message": call.reason},
            "headers": headers,
            "body": {"string": _clean_body(body, scrubber)},
        },
    }


def _address(url: str) -> str:
    """Return an address without credentials; a proxy of the Gemini API counts as the API."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    if "/models/" in parts.path and not is_the_api(parts.hostname or ""):
        host = _API
    query = "alt=sse" if "sse" in dict(parse_qsl(parts.query)).get("alt", "") else ""
    return urlunsplit((parts.scheme, host, parts.path, query, ""))


def _clean_body(body: str, scrubber: Scrubber) -> str:
    """Mask secrets; the texts of a stream's events count as one."""
    if re.search(r"^data:", body, re.MULTILINE):
        try:
            events = parse_event_stream(body.encode())
        except ExchangeSkipped:
            return scrubber.text(body)
        clean = scrubber.value(events)
        return body if clean == events else event_stream(clean, "\n").decode()
    try:
        whole = parse_json(body)
    except ValueError:
        return scrubber.text(body)
    clean = scrubber.value(whole)
    return body if clean == whole else js_json(clean)
