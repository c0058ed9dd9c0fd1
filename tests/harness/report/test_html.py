"""The page as text: what holds whatever reads it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from dataclasses import replace
from html.parser import HTMLParser
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from harness.coverage.behaviour import Behaviour, BehaviourClass
from harness.coverage.contract import Contract
from harness.coverage.expression import parse_probes
from harness.errors import UsageError
from harness.journal_header import JournalHeader
from harness.parity.verdict import CaseResult
from harness.parity.waivers import WaiverStatus
from harness.report.html import SCRIPTS, HtmlListener, html_report
from harness.report.html_case import case_details, case_kind, is_shown
from harness.report.html_charts import cost_shape, coverage_rows, grid
from harness.report.kills import kill_rows, read_kills
from harness.report.listening import Settled
from harness.report.model import LoadProblem, RunReport
from harness.triage.changes import Changes
from tests.harness.report.pages import (
    HOSTILE,
    divergent,
    equal,
    half_waived,
    noisy,
    report,
    several,
    waived,
)

CONTRACT = Contract(
    behaviours=tuple(
        Behaviour(
            id=f"P-00{number}",
            phase="A",
            behaviour_class=kind,
            title="It holds.",
            probes=parse_probes(probe),
            source="the design",
        )
        for number, kind, probe in (
            (1, BehaviourClass.TOOLS, "tool:a"),
            (2, BehaviourClass.TOOLS, "tool:b"),
            (3, BehaviourClass.TOOLS, "tool:c"),
            (4, BehaviourClass.LOOPS, "loop:a"),
        )
    )
)


class _Tags(HTMLParser):
    """Every tag with its attributes, and the text of style and script."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.raw: dict[str, str] = {}
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        self.tags.append((f"/{tag}", {}))

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1] in (("script", {}), ("style", {})):
            self.raw[self.tags[-1][0]] = self.raw.get(self.tags[-1][0], "") + data


def details_of(page: str, number: int = 1) -> dict[str, Any]:
    """What a case's details hold, unpacked."""
    kept = re.search(rf'id="case-{number}-data">(.*?)</script>', page)
    assert kept is not None
    text = zlib.decompress(base64.b64decode(json.loads(kept[1]), validate=True))
    found: dict[str, Any] = json.loads(text)
    return found


def test_the_policy_allows_this_style_and_this_script_alone() -> None:
    seen = _Tags(html_report(report(divergent("tools/read"))))
    policy = next(
        attributes["content"] or ""
        for tag, attributes in seen.tags
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    digests = {
        tag: "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for tag, text in seen.raw.items()
    }

    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == f"'{digests['script']}'"
    assert rules["style-src"] == f"'{digests['style']}'"
    assert rules["trusted-types"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert "unsafe" not in policy


def test_the_page_refers_to_nothing_outside_and_runs_nothing_inline(tmp_path: Path) -> None:
    for tag, attributes in _Tags(html_report(several(tmp_path))).tags:
        assert tag not in ("link", "iframe", "object", "embed", "img", "base")
        assert not [name for name in attributes if name.startswith("on") or name == "style"]
        assert "src" not in attributes
        assert (attributes.get("href") or "#").startswith("#")


def test_hostile_text_makes_no_tag_and_no_bare_character(tmp_path: Path) -> None:
    page = html_report(several(tmp_path))
    scripts = [attributes for tag, attributes in _Tags(page).tags if tag == "script"]

    assert scripts.count({}) == 1
    assert all(attributes.get("type") == "application/json" for attributes in scripts if attributes)
    assert not set(page) & set("\x00\x1b\u202e\u200b\u2028")
    assert "{{ 7 * 7 }}" in page
    assert "\\x1b[31mred" in page


def test_names_of_cases_are_escaped_like_all_else() -> None:
    page = html_report(report(divergent(f"tools/{HOSTILE}"), equal(f'text/"x" {HOSTILE}')))

    assert {tag for tag, _ in _Tags(page).tags} == {
        tag for tag, _ in _Tags(html_report(report(divergent("a/b"), equal("a/c")))).tags
    }


def test_no_script_of_ours_parses_markup_or_evaluates_text() -> None:
    folder = resources.files("harness.report").joinpath("page")
    scripts = {each.name: each.read_text("utf-8") for each in folder.iterdir() if
               each.name.endswith(".js")}  # fmt: skip

    assert set(scripts) == set(SCRIPTS)
    for text in scripts.values():
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", text)
        assert "</script" not in text


def test_what_is_compressed_is_what_was_seen() -> None:
    details = details_of(html_report(report(divergent("tools/read"))))
    row = details["rows"][details["first"]]

    assert "It says hello." in json.dumps(row[1])
    assert "It says bye." in json.dumps(row[2])
    found = details["divergences"][row[3][0]]
    assert (found["control"], found["candidate"]) == ("It says hello.", "It says bye.")
    assert found["waivedBy"] is None


def test_timelines_that_are_none_are_left_out() -> None:
    broken = replace(divergent("tools/read"), timelines="bm8=")

    assert case_details(broken, None, None)["rows"] == []
    assert len(details_of(html_report(report(broken)))["divergences"]) == 1


def test_a_secret_is_nowhere_in_the_page(tmp_path: Path) -> None:
    secret = "AIza" + "SyD3v9XkQ7bR2mN5pL8tW1cF6hJ4gK0aZ"
    cassette = tmp_path / "tools" / "read.yaml"
    cassette.parent.mkdir()
    cassette.write_text(f"key: {secret}\n")
    case = divergent("tools/read", f"The key is {secret}.")
    undecided = CaseResult.undecided("tools/other", f"it said {secret}")
    page = html_report(
        report(case, undecided, equal("a/b", remarks=(secret,)),
               files={"tools/read": str(cassette)},
               problems=(LoadProblem(file="x", message=secret),))
    )  # fmt: skip

    assert secret not in page
    assert secret not in json.dumps(details_of(page))
    assert "key: " in details_of(page)["cassette"]


def test_findings_come_first_and_what_is_waived_or_noise_last() -> None:
    page = html_report(
        report(
            noisy("a/noise"),
            waived("b/waived"),
            CaseResult.undecided("c/undecided", "no"),
            divergent("d/found"),
            equal("e/fine"),
        )
    )

    assert re.findall(r'<h3 class="name">(.*?)</h3>', page) == [
        "d/found", "c/undecided", "b/waived", "a/noise",
    ]  # fmt: skip
    assert re.findall(r'data-kind="(\w+)"', page) == ["finding", "finding", "waived", "noise"]


def test_of_those_that_fail_alike_the_smallest_comes_first() -> None:
    large = replace(half_waived("a/large"), waived={})
    page = html_report(report(large, divergent("b/small"), divergent("c/small")))

    assert re.findall(r'<h3 class="name">(.*?)</h3>', page) == ["b/small", "a/large", "c/small"]


def test_only_the_first_finding_is_open_and_what_a_toggle_shows_is_hidden() -> None:
    page = html_report(report(divergent("a/one"), divergent("a/two"), waived("a/three")))
    cards = [attributes for tag, attributes in _Tags(page).tags if tag == "details" and
             (attributes.get("class") or "").startswith("case ")]  # fmt: skip

    assert ["open" in card for card in cards] == [True, False, False]
    assert ["hidden" in card for card in cards] == [False, False, True]


@pytest.mark.parametrize(
    ("case", "shown", "kind"),
    [
        (equal("a/b"), False, "noise"),
        (divergent("a/b"), True, "finding"),
        (waived("a/b"), True, "waived"),
        (noisy("a/b"), True, "noise"),
        (CaseResult.undecided("a/b", "no"), True, "finding"),
        (replace(waived("a/b"), blockers=("no",)), True, "finding"),
    ],
)
def test_a_case_is_marked_by_its_outcome(case: CaseResult, shown: bool, kind: str) -> None:
    assert is_shown(case) is shown
    if shown:
        assert case_kind(case) == kind


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (report(equal("a/b"), equal("a/c")), "adk and legacy agree in all 2 cases."),
        (report(equal("a/b")), "adk and legacy agree in the one case."),
        (
            report(waived("a/b"), equal("a/c")),
            "adk and legacy agree in all 2 cases, except for 1 accepted difference.",
        ),
        (report(divergent("a/b"), equal("a/c")), "adk differs from legacy in 1 of 2 cases."),
        (
            report(CaseResult.undecided("a/b", "no"), equal("a/c")),
            "1 of 2 cases inconclusive; no difference was found.",
        ),
        (report(), "Nothing was compared"),
        (replace(report(equal("a/b")), planned=3), "partial report: 1 of 3 cases judged"),
    ],
)
def test_the_verdict_is_said_in_a_sentence(given: RunReport, says: str) -> None:
    header = re.search(r"<header.*?</header>", html_report(given), re.DOTALL)

    assert header is not None
    assert says.lower() in header[0].lower()
    assert f"<h1>{given.verdict.value.capitalize()}</h1>" in header[0]


def test_the_grid_counts_a_case_in_each_class_that_it_names() -> None:
    both = divergent("a/b", contract=("P-001", "P-004"))
    table = grid([both, equal("a/c", contract=("P-002",)), equal("own/d")], CONTRACT)

    assert [phase["id"] for phase in table["phases"]] == ["A"]
    cells = {row["name"]: row["cells"][0] for row in table["rows"]}
    assert cells["tools"] == {"cases": 2, "parity": 1, "divergent": 1, "inconclusive": 0}
    assert cells["loops"]["divergent"] == 1
    assert cells["own"]["cases"] == 1  # names no behaviour: goes by its family


def test_phases_stand_side_by_side_and_cells_without_a_case_are_empty() -> None:
    cases = [equal("a/b"), replace(equal("c/d"), phase="C"), replace(equal("c/e"), phase=None)]
    table = grid(cases, Contract())

    assert [phase["id"] for phase in table["phases"]] == ["A", "C", "none"]
    assert [[cell and cell["cases"] for cell in row["cells"]] for row in table["rows"]] == [
        [1, None, None],
        [None, 1, 1],
    ]


def test_coverage_distinguishes_both_one_and_never() -> None:
    reached = (("tool:a", "tool:b"), ("tool:a",))
    rows = coverage_rows([equal("a/b", contract=("P-001", "P-002"), reached=reached)], CONTRACT)

    tools, loops = rows
    assert (tools["both"], tools["one"], tools["never"], tools["total"]) == (1, 1, 1, 3)
    assert tools["missing"] == ["P-002 to P-003"]
    assert (loops["never"], loops["missing"]) == (1, ["P-004"])
    assert coverage_rows([replace(equal("a/b"), phase="C")], CONTRACT) == []


def matrix(**changes: Any) -> dict[str, Any]:
    tally = {"observable": 10, "byCorpus": 7, "killed": 9, "lowerBound95": 0.55}
    faults = [
        {"name": "lost", "outcome": "survived", "says": "It is lost."},
        {"name": "seen", "outcome": "killed", "says": "It is seen."},
    ]
    return {"kills": 2, "classes": [{"about": "tools", **tally}], "faults": faults, **changes}


def test_the_kill_matrix_is_shown_with_what_survived() -> None:
    page = html_report(replace(report(equal("a/b")), kills=matrix()))

    assert "9 of 10 seeded faults were found" in page
    assert "55 %" in page
    assert "It is lost." in page
    assert "It is seen." not in page
    assert 'id="kills"' not in html_report(report(equal("a/b")))


@pytest.mark.parametrize(
    "given",
    [None, {}, {"kills": 3}, matrix(classes=None), matrix(classes=[{}]), matrix(faults=["x"])],
)
def test_what_is_no_kill_matrix_is_left_out(given: Any) -> None:
    assert kill_rows(given) is None


@pytest.mark.parametrize("text", ["", "{}", "[1]", "[" * 100_000, '{"kills": 2}', "\x00"])
def test_a_file_that_is_no_kill_matrix_is_refused_in_words(tmp_path: Path, text: str) -> None:
    file = tmp_path / "kills.json"
    file.write_text(text)

    with pytest.raises(UsageError, match=r"kills\.json is not .*parity faults --json"):
        read_kills(file)
    with pytest.raises(UsageError, match="cannot be read"):
        read_kills(tmp_path)


def test_a_kill_matrix_is_read_as_it_was_written(tmp_path: Path) -> None:
    file = tmp_path / "kills.json"
    file.write_text(json.dumps(matrix()))

    assert read_kills(file) == matrix()


def test_a_page_is_not_written_through_a_link_out_of_its_folder(tmp_path: Path) -> None:
    other, folder = tmp_path / "other.html", tmp_path / "report"
    other.write_text("mine")
    folder.mkdir()
    (folder / "index.html").symlink_to(other)

    with pytest.raises(UsageError, match="leads out of"):
        HtmlListener(folder, Settled()).show(report(equal("a/b")))
    assert other.read_text() == "mine"
    (folder / "index.html").unlink()
    (folder / "index.html").symlink_to("index.html")
    with pytest.raises(UsageError, match="leads out of"):
        HtmlListener(folder, Settled()).show(report(equal("a/b")))
    (folder / "index.html").unlink()
    listener = HtmlListener(folder, Settled())
    listener.show(report(equal("a/b")))
    assert listener.written == folder / "index.html"
    assert not listener.written.is_symlink()


def cost(calls: int, tokens: int) -> dict[str, Any]:
    return {
        "modelCalls": {"generateContentStream(main)": calls},
        "tokens": {"inputTokens": tokens, "outputTokens": 1, "cachedTokens": 0},
        "contentsSent": 4,
        "contentsSentBefore": 2,
    }


def test_cost_adds_up_over_cases_and_compares() -> None:
    cases = [equal("a/b", cost=(cost(2, 10), cost(3, 15))), equal("a/c", cost=(cost(2, 10),) * 2),
             equal("a/d", cost=None)]  # fmt: skip
    rows = {row["name"]: row for row in cost_shape(cases)}

    assert (rows["model calls"]["control"], rows["model calls"]["candidate"]) == (4, 5)
    assert rows["input tokens"]["share"] == 1.25
    assert rows["cached tokens"]["share"] is None
    assert cost_shape([equal("a/d", cost=None)]) == []
    assert cost_shape([equal("a/d", cost=({}, {}))]) == []


def test_waivers_are_shown_with_their_state_and_days_left() -> None:
    states = (
        WaiverStatus(id="W-soon", state="used", count=1, max_count=2, days_left=3),
        WaiverStatus(id="W-over", state="expired", count=0, max_count=2, days_left=-1),
    )
    text = re.sub(r"\s*<[^>]+>\s*", " ", html_report(replace(report(equal("a/b")), waivers=states)))

    assert re.search(r"W-soon\s+used\s+Show the cases:\s+1\s+2\s+3\s", text)
    assert re.search(r"W-over\s+expired\s+0\s+2\s+expired 1 day ago", text)


def test_the_page_says_what_ran_and_what_changed_since_it_was_green() -> None:
    header = JournalHeader(
        control="legacy",
        candidate="adk",
        as_of="2026-11-22",
        components={"corpus": "c0ffee"},
        environment={"python": "CPython 3.11.7"},
        revision="abcdef",
        dirty=True,
    )
    since = Changes(since="monday.jsonl", green=True)
    text = re.sub(
        r"(\s|<[^>]+>)+",
        " ",
        html_report(replace(report(equal("a/b")), header=header, since=since)),
    )

    assert "What changed, last green (monday.jsonl) → this run nothing that a journal" in text
    assert "revision abcdef, with changes" in text
    assert "Digests (1) corpus c0ffee" in text
    assert "python CPython 3.11.7" in text


def test_every_case_is_in_the_page_with_its_command() -> None:
    page = html_report(report(divergent("tools/read"), equal("text/alike", remarks=("both no",))))

    assert "parity run -k tools/read --control legacy --candidate adk" in page
    assert re.search(r">text/alike</button> <span[^>]*>both no", page)
