"""Every writer against one hostile report: shown, never executed, and still parsed."""

import html.parser
import io
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from markdown_it import MarkdownIt

from harness.json_lines import JsonLines
from harness.parity.verdict import CaseResult, CaseVerdict
from harness.report.annotations import annotations_report
from harness.report.html import html_report
from harness.report.json_report import json_report
from harness.report.junit import junit_report
from harness.report.model import RunReport
from harness.report.summary import MOST_BYTES, summary_report
from harness.report.terminal import show
from tests.harness.report.hostile import HOSTILE, SHOWN, hostile_report


def terminal(report: RunReport) -> str:
    stream = io.StringIO()
    show(report, stream)
    return stream.getvalue()


def annotations_of_findings(report: RunReport) -> str:
    """There is room for ten errors, and files that could not be loaded come first."""
    cases = tuple(case for case in report.cases if case.verdict is not CaseVerdict.INCONCLUSIVE)
    return annotations_report(replace(report, cases=cases, problems=()))


class _Tags(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: set[str] = set()
        self.declared: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        kept = tag == "script" and ("type", "application/json") in attrs
        self.tags["data" if kept else tag] += 1
        self.attributes.update(name for name, _ in attrs)

    def handle_comment(self, data: str) -> None:
        self.declared.append(data)


def check_html(text: str) -> None:
    page = _Tags()
    page.feed(text)
    page.close()
    assert page.tags["script"] == 1
    assert page.tags["data"] > len(HOSTILE)
    assert page.tags["style"] == 1
    assert not page.tags.keys() & {"img", "iframe", "object", "base", "link"}
    assert not [name for name in page.attributes if name.startswith("on")]
    assert not page.attributes & {"src", "action", "formaction", "srcdoc"}
    assert not [comment for comment in page.declared if "closed" in comment]


def check_json(text: str) -> None:
    document = json.loads(text)
    assert text.isascii()
    assert {case["verdict"] for case in document["cases"]} == {
        "parity",
        "divergent",
        "inconclusive",
    }
    assert HOSTILE["html"] in document["control"]


def check_junit(text: str) -> None:
    root = ET.fromstring(text)
    assert {element.tag for element in root.iter()} == {
        *("testsuites", "testsuite", "testcase", "failure", "error", "properties", "property")
    }
    _check_seen("".join(root.itertext()), allowed="\n\t\r")


def check_summary(text: str) -> None:
    assert len(text.encode()) <= 2**20
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(text)
    spoken = []
    for before, token in pairwise(tokens):
        if before.type == "td_open" and token.content.startswith("`"):
            assert [child.type for child in token.children or ()] == ["code_inline"], token.content
        assert token.type not in ("html_block", "code_block", "hr"), token.content
        for child in token.children or ():
            assert child.type not in ("html_inline", "image", "link_open"), child
            spoken += [child.content] if child.type == "text" else []
        if token.type == "fence":
            assert token.info == ""
            assert token.markup not in token.content
    for text in spoken:
        assert not re.search(r"@|#\d|://|www\.|^::|##\[", text), text
    _check_seen(text, allowed="\n")


def check_annotations(text: str) -> None:
    """As GitHub's runner reads them."""
    levels: Counter[str] = Counter()
    for line in text.removesuffix("\n").split("\n"):
        match = re.fullmatch(r"::(error|warning) (.*?)::(.*)", line)
        assert match is not None, line
        levels[match[1]] += 1
        given = dict(pair.split("=", 1) for pair in match[2].split(","))
        assert set(given) <= {"file", "line", "title"}
        assert not given.get("file", "x").startswith(("/", ".."))
        for line in match[3].replace("%0A", "\n").split("\n"):
            _check_seen(line, allowed="")
    assert levels == {"error": 10, "warning": 10}
    assert "more" in text


def check_terminal(text: str) -> None:
    for line in text.split("\n"):
        assert not line.lstrip().startswith("::"), line
        assert "##[" not in line, line
    _check_seen(text, allowed="\n")


def _check_seen(text: str, *, allowed: str) -> None:
    unseen = {c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")}
    assert unseen - set(allowed) <= {"\N{REPLACEMENT CHARACTER}"}


WRITERS: dict[str, tuple[Callable[[RunReport], str], Callable[[str], None]]] = {
    "html": (html_report, check_html),
    "json": (json_report, check_json),
    "junit": (junit_report, check_junit),
    "summary": (summary_report, check_summary),
    "annotations": (annotations_report, check_annotations),
    "annotations of findings": (annotations_of_findings, check_annotations),
    "terminal": (terminal, check_terminal),
}


@pytest.fixture(scope="module")
def written() -> Callable[[str], str]:
    report = hostile_report()
    return cache(lambda writer: WRITERS[writer][0](report))


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.sampled(7)
def test_a_hostile_report_is_shown_and_never_executed(
    writer: str, written: Callable[[str], str]
) -> None:
    _, check = WRITERS[writer]

    check(written(writer))

    assert SHOWN in written(writer)
    written(writer).encode("utf-8")


@pytest.mark.parametrize("writer", sorted(WRITERS))
@pytest.mark.sampled(9)
def test_a_report_is_the_same_every_time(writer: str, written: Callable[[str], str]) -> None:
    write, _ = WRITERS[writer]

    assert write(hostile_report()) == written(writer)


@pytest.mark.slow
def test_a_summary_that_would_be_too_long_says_what_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("harness.report.summary.MOST_BYTES", 20_000)
    text = summary_report(hostile_report())

    assert MOST_BYTES < 2**20
    assert len(text.encode()) < 21_000
    assert re.search(r"… and \d+ more parts, for which there is no room here\.\n\Z", text)
    check_summary(text)


@pytest.mark.slow
def test_a_journal_gives_hostile_results_back_as_they_were(tmp_path: Path) -> None:
    class Lines(JsonLines):
        def write(self, case: CaseResult) -> None:
            self._write(case.to_json())

    file = tmp_path / "journal.jsonl"
    cases = hostile_report().cases
    with Lines(file.open("w", encoding="utf-8")) as journal:
        for case in cases:
            journal.write(case)

    lines = file.read_text("utf-8").removesuffix("\n").split("\n")
    assert all(line.isascii() for line in lines)
    assert tuple(CaseResult.from_json(json.loads(line)) for line in lines) == cases
