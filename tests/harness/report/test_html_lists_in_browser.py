"""The report's lists in a real browser: sorts of difference, all cases, virtual time, tables."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.coverage.behaviour import BehaviourClass
from harness.coverage.contract import Contract
from harness.parity.provider import CommittedBy, CommittedFinding
from harness.parity.verdict import CaseVerdict
from harness.provider.rules import ProviderFinding
from harness.report.model import PastRun
from tests.harness.report.browser import Page
from tests.harness.report.pages import divergent, half_waived, report, several, shown_equal
from tests.harness.report.test_html import CONTRACT

pytestmark = pytest.mark.xdist_group("browser")  # one browser, however many workers there are
Keys = pytest.importorskip(
    "selenium.webdriver.common.keys", reason="selenium is missing: `pip install --group browser`"
).Keys


def test_a_kind_of_difference_leads_to_its_cases_and_opens_the_first(page: Page) -> None:
    page.open(report(divergent("a/1"), divergent("a/2"), half_waived("tools/half")))
    assert page.text("ol > li:nth-child(2) button") == "1 case"
    assert page.js("document.querySelectorAll('.groups li')[1].value") == 2
    page.click(".groups li:nth-child(2) button")

    page.until("document.querySelector('[data-current][data-state=ready]') !== null")
    assert page.js("document.getElementById('search').value") == "group:2"
    assert page.shown() == ["tools/half"]
    assert page.js("document.querySelector('[data-current] .name').textContent") == "tools/half"
    assert page.js("document.querySelector('[data-current]').open")
    assert "kind 2" in page.js("document.querySelector('[data-current] .tally').textContent")


def test_the_case_to_see_first_is_a_link_even_where_the_search_hides_it(page: Page) -> None:
    page.open(report(divergent("a/1"), half_waived("tools/half")))
    page.press("/")
    page.press("tools/half")
    page.until("document.querySelectorAll('details.case:not([hidden])').length === 1")
    page.click(".groups li:first-child a")

    page.until("document.querySelector('[data-current] .name').textContent === 'a/1'")
    page.until("document.activeElement.closest('[data-current]') !== null")


def test_what_is_alike_stands_under_both_sides(page: Page) -> None:
    page.open(report(divergent("tools/first")))
    page.until("document.querySelector('.row.same') !== null")
    lines = "[...document.querySelector('.row.same').querySelectorAll('.line')]"

    one, other = page.js(f"{lines}.map((each) => each.getBoundingClientRect().x)")
    assert other > one + 100
    texts = page.js(f"{lines}.map((each) => each.textContent.replace('on both sides: ', ''))")
    assert texts[0] == texts[1] != ""
    # Read aloud it is said once.
    assert page.js(f"{lines}.map((each) => each.ariaHidden)") == [None, "true"]


@pytest.fixture
def narrow(page: Page) -> Page:
    page.cdp(
        "Emulation.setDeviceMetricsOverride",
        width=420, height=800, deviceScaleFactor=1, mobile=True,
    )  # fmt: skip
    return page


def test_what_is_alike_stands_once_where_the_sides_stand_one_above_the_other(narrow: Page) -> None:
    narrow.open(report(divergent("tools/first")))
    narrow.until("document.querySelector('.row.same') !== null")
    seen = "[...document.querySelector('.row.same').querySelectorAll('.line')]"

    assert narrow.js(f"{seen}.filter((each) => each.checkVisibility()).length") == 1


def test_no_table_is_cut_off_on_a_small_screen(narrow: Page) -> None:
    objection = CommittedFinding(
        request=2,
        finding=ProviderFinding(
            rule="response-uncalled",
            path="contents[12].parts[1].functionResponse.name",
            message="a response to a call that no turn of the model has made before",
        ),
        by=CommittedBy.BOTH,
    )
    behaviours = tuple(
        replace(CONTRACT.behaviours[0], id=f"P-{number:03}", behaviour_class=kind)
        for number, kind in enumerate([*BehaviourClass] * 6, 100)
    )
    past = PastRun(
        began="2026-03-01 06:00 UTC", revision="0123456789+", verdict=CaseVerdict.DIVERGENT,
        counts=(1200, 15, 0), planned=1215, journal=".parity/journals/20260301T060000Z-1.jsonl",
        page="../monday/index.html",
    )  # fmt: skip
    shown = report(
        shown_equal("tools/a_name_of_some_length", inherited=(objection,) * 9),
        *several(narrow.folder).cases,
        contract=Contract(behaviours=behaviours),
        past=(past,),
        took_ms={"tools/a_name_of_some_length": 123_456.7},
    )
    narrow.open(shown)
    narrow.press("w", "o")
    narrow.unfold()

    wide = narrow.js(
        "[...document.querySelectorAll('.scroll')].filter((each) => each.scrollWidth >"
        " each.clientWidth).map((each) => each.ariaLabel ?? each.getAttribute('aria-labelledby'))"
    )
    assert wide == []
    assert narrow.js("document.querySelectorAll('.scroll table').length") >= 5


def test_a_case_at_parity_opens_with_both_runs_and_their_time(page: Page) -> None:
    cassette = page.folder / "cassettes" / "tools" / "same.yaml"
    cassette.parent.mkdir(parents=True)
    cassette.write_text("format: 1\nnote: |\n  Two files,\n  one after the other.\nscript: []\n")
    page.open(report(shown_equal("tools/same"), files={"tools/same": str(cassette)}))
    page.click("#all-cases > summary")
    page.click("button[data-unfolds]")
    page.until("document.querySelector('.unfolded[data-state=ready]') !== null")

    shown = page.text(".unfolded")
    assert "Two files, one after the other." in shown
    assert shown.count("emitted agent_end: completed") == 2
    assert "2.000 s" in shown
    assert "parity run" in shown
    assert page.js("document.querySelector('[data-unfolds]').ariaExpanded") == "true"
    # The axis is as long as the run: the last event stands at its end.
    ticks = "[...document.querySelectorAll('.unfolded .axis')].map((each) => each.lastChild)"
    places = page.js(f"{ticks}.map((each) => Number(each.getAttribute('x')))")
    assert (min(places), max(places)) == (0, 97)
    page.click("button[data-unfolds]")
    assert page.js("document.querySelector('.unfolded').hidden")


def test_a_case_at_parity_is_opened_by_keyboard(page: Page) -> None:
    page.open(report(shown_equal("tools/same")))
    page.js("document.querySelector('#all-cases').open = true")
    page.js("document.querySelector('button[data-unfolds]').focus()")
    page.press(Keys.ENTER)

    page.until("document.querySelector('.unfolded[data-state=ready]') !== null")


def test_cases_are_sorted_by_how_long_they_took_and_back(page: Page) -> None:
    took = {"a/1": 50.0, "a/2": 7000.0, "a/3": 900.0}
    page.open(report(*(shown_equal(name) for name in took), divergent("b/4"), took_ms=took))
    page.click("#all-cases > summary")
    names = "[...document.querySelectorAll('tr[data-name]')].map((each) => each.dataset.name)"
    page.click("button[data-sorts=took]")
    assert page.js(names) == ["a/2", "a/3", "a/1", "b/4"]
    assert page.js("document.querySelector('[aria-sort]').ariaSort") == "descending"
    assert "7.0 s" in page.text("tr[data-name='a/2']")
    page.click("button[data-sorts=took]")
    assert page.js(names) == ["b/4", "a/1", "a/3", "a/2"]
    page.click("button[data-sorts=name]")

    assert page.js(names) == ["a/1", "a/2", "a/3", "b/4"]


def test_a_finding_in_the_list_leads_to_its_card(page: Page) -> None:
    page.open(several(page.folder))
    page.click("#all-cases > summary")
    page.click("tr[data-name='tools/noisy'] a")

    page.until("document.querySelector('[data-current] .name').textContent === 'tools/noisy'")
    assert page.js("document.getElementById('show-noise').checked")
