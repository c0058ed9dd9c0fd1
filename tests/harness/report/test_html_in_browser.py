"""The report as a reader meets it: opened from disk in a real browser, by keyboard and by mouse."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Final

import pytest

from harness.parity.compare import compare_repeated
from harness.replay.observation import Screen
from harness.report.model import RunReport
from tests.harness.report.browser import Page
from tests.harness.report.hostile import SHOWN, hostile_report
from tests.harness.report.pages import HOSTILE, divergent, equal, half_waived, report, several
from tests.harness.samples import Facts, observation

pytestmark = pytest.mark.xdist_group("browser")  # one browser, however many workers there are
Keys = pytest.importorskip(
    "selenium.webdriver.common.keys", reason="selenium is missing: `pip install --group browser`"
).Keys


@pytest.fixture
def small() -> RunReport:
    return report(divergent("tools/first"), divergent("tools/second"), equal("text/alike"))


def test_the_verdict_stands_first_in_words(page: Page, small: RunReport) -> None:
    page.open(small)

    assert page.text("h1") == "Divergent"
    assert "adk differs from legacy in 2 of 3 cases." in page.text("header")
    assert page.text("header").index("Divergent") == 0


def test_the_first_divergence_is_open_without_being_asked_for(page: Page, small: RunReport) -> None:
    page.open(small).until("document.querySelector('#case-1[data-state=ready]') !== null")

    first = page.text("#case-1-first")
    assert "It says hello." in first
    assert "It says bye." in first
    assert page.js("document.querySelector('#case-1-first mark.control').textContent") == "hello"
    assert page.js("document.querySelector('#case-1-first mark.candidate').textContent") == "bye"


def test_the_first_divergence_is_found_by_keyboard(page: Page, small: RunReport) -> None:
    page.open(small)
    page.press("n")
    page.until("document.activeElement === document.querySelector('#case-1 > summary')")
    page.until("document.querySelector('#case-1[data-state=ready]') !== null")
    page.press("d")

    page.until("document.querySelector('#case-1-first').contains(document.activeElement)")
    place = "document.querySelector('#case-1-first').getBoundingClientRect()"
    page.until(f"{place}.top >= 0 && {place}.top < innerHeight")


def test_keys_go_from_finding_to_finding_and_back(page: Page, small: RunReport) -> None:
    page.open(small)
    page.press("j")
    page.until("document.activeElement === document.querySelector('#case-1 > summary')")
    page.press("j")
    page.until("document.activeElement === document.querySelector('#case-2 > summary')")
    page.until("document.querySelector('#case-2[data-state=ready]') !== null")
    assert page.js("document.querySelector('#case-1').open") is False
    page.press("k")

    page.until("document.activeElement === document.querySelector('#case-1 > summary')")


def test_tab_alone_reaches_a_finding_and_opens_it(page: Page, small: RunReport) -> None:
    page.open(small)
    for _ in range(40):
        page.press(Keys.TAB)
        if page.js("document.activeElement === document.querySelector('#case-2 > summary')"):
            break
    assert page.js("document.activeElement.matches(':focus-visible')")
    assert page.js("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.press(Keys.ENTER)

    page.until("document.querySelector('#case-2[data-state=ready]') !== null")


def test_the_keys_are_listed_under_the_question_mark(page: Page, small: RunReport) -> None:
    page.open(small)
    page.press("?")
    page.until("document.getElementById('help').open")
    assert "next finding" in page.text("#help")
    page.press(Keys.ESCAPE)

    page.until("!document.getElementById('help').open")


def test_waived_cases_and_differences_come_and_go(page: Page) -> None:
    page.open(several(page.folder))
    assert "tools/accepted" not in page.shown()
    page.press("w")
    page.until("document.getElementById('show-waived').checked")
    assert "tools/accepted" in page.shown()
    page.click("label.toggle:has(#show-waived)")

    assert "tools/accepted" not in page.shown()


def test_noise_comes_and_goes(page: Page) -> None:
    page.open(several(page.folder))
    assert "tools/noisy" not in page.shown()
    page.press("o")
    page.until("document.getElementById('show-noise').checked")
    assert "tools/noisy" in page.shown()
    page.js("document.querySelector('.is-noise').open = true")

    page.until("document.querySelector('.is-noise[data-state=ready] .noise') !== null")
    assert "hides 2 differences" in page.js("document.querySelector('.noise').textContent")


def test_the_first_difference_is_one_that_no_waiver_covers(page: Page) -> None:
    page.open(report(half_waived("tools/half")))
    page.until("document.querySelector('.row.first') !== null")

    first = "document.querySelector('.row.first')"
    assert "inputTokens" in page.js(f"{first}.textContent")
    assert page.js(f"document.querySelector('.row.waived').compareDocumentPosition({first})") == 4
    page.press("n", "d")
    page.until(f"{first}.contains(document.activeElement)")
    # Round and round, past what is waived as long as that is not shown.
    rows = page.js("document.querySelectorAll('.timeline > .differs').length")
    for _ in range(rows):
        page.press("d")
    page.until(f"{first}.contains(document.activeElement)")
    page.press("w", *["d"] * rows)
    page.until("document.querySelector('.row.waived').contains(document.activeElement)")


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("tools/read", ["tools/read"]),
        ("class:abort", ["abort/wait"]),
        ("verdict:inconclusive", ["abort/wait"]),
        ("phase:a half", ["tools/half"]),
        ("inputTokens", ["tools/half"]),
        ("no such words", []),
    ],
)
@pytest.mark.sampled(3)
def test_the_search_finds_by_name_class_and_words(page: Page, query: str, names: list[str]) -> None:
    page.open(several(page.folder))
    page.press("/")
    page.until("document.activeElement.id === 'search'")
    page.press(query)
    page.until(f"document.getElementById('search').value === {json.dumps(query)}")
    assert page.shown() == names
    page.press(Keys.ESCAPE)

    assert len(page.shown()) == 4


def test_a_number_in_a_table_leads_to_its_cases(page: Page) -> None:
    page.open(several(page.folder))
    page.click("button[data-query='W-1']")
    assert sorted(page.shown()) == ["tools/accepted", "tools/half"]
    page.click("button[data-query*='verdict:inconclusive']")

    assert page.shown() == ["abort/wait"]


def test_letters_that_are_typed_into_the_search_are_no_keys(page: Page, small: RunReport) -> None:
    page.open(small)
    page.press("/")
    page.press("n")

    assert page.js("document.getElementById('search').value") == "n"
    assert page.js("document.querySelector('[data-current]')") is None


def test_the_command_is_copied(page: Page, small: RunReport) -> None:
    page.open(
        small,
        before="""
        Object.defineProperty(Navigator.prototype, "clipboard", { get: () => ({
          writeText: async (text) => { window.copied = text; } }) });
    """,
    )
    page.click("#case-1 button[data-copies]")

    page.until("document.querySelector('#case-1 .copy-status').textContent === 'Copied.'")
    assert page.js("window.copied") == page.js(
        "document.querySelector('#case-1-command').textContent"
    )
    assert page.js("window.copied").startswith("parity run -k tools/first --control legacy")


def test_where_the_clipboard_is_refused_the_command_is_selected(
    page: Page, small: RunReport
) -> None:
    page.open(
        small,
        before="""
        Object.defineProperty(Navigator.prototype, "clipboard", { get: () => ({
          writeText: async () => { throw new DOMException("no", "NotAllowedError"); } }) });
    """,
    )
    page.press("c")

    page.until("document.querySelector('#case-1 .copy-status').textContent.startsWith('Selected')")
    assert page.js("getSelection().toString()") == page.js(
        "document.querySelector('#case-1-command').textContent"
    )


def test_where_there_is_no_clipboard_the_command_is_selected(page: Page, small: RunReport) -> None:
    page.open(
        small,
        before="""
        Object.defineProperty(Navigator.prototype, "clipboard", { get: () => undefined });
    """,
    )
    page.click("#case-1 button[data-copies]")

    page.until("getSelection().toString().startsWith('parity run')")


def test_without_decompression_in_the_browser_a_case_opens_all_the_same(
    page: Page, small: RunReport
) -> None:
    page.open(small, before="delete window.DecompressionStream")

    page.until("document.querySelector('#case-1[data-state=ready]') !== null")
    assert page.js("typeof DecompressionStream") == "undefined"
    assert "It says bye." in page.text("#case-1-first")


def test_hostile_text_is_shown_and_does_nothing(page: Page) -> None:
    page.open(several(page.folder))
    page.press("w", "o")
    page.unfold()
    assert page.js("document.querySelector('.case .part pre') !== null")

    everything = page.js("document.body.textContent")
    assert page.js("document.images.length") == 0
    assert page.js("document.querySelectorAll('script:not([type])').length") == 1
    assert "onerror" in everything
    assert "{{ 7 * 7 }}" in everything
    assert not set(everything) & set("\x00\x1b\u202e\u202c\u200b\u2028")
    assert page.js(
        "[...document.querySelectorAll('.escape')].map((each) => each.textContent)"
        ".filter((each) => each === '\\\\x1b' || each === '\\\\u{202e}').length"
    )
    assert "onerror" in page.js("document.querySelector('.case .part pre').textContent")


@pytest.mark.slow
def test_a_report_full_of_hostile_text_is_read_to_its_end(page: Page) -> None:
    page.open(hostile_report())
    page.press("w", "o")
    page.unfold()

    assert page.js(f"document.body.textContent.split({SHOWN!r}).length") > 100
    assert page.js("document.images.length") == 0
    assert page.js("document.querySelectorAll('script:not([type])').length") == 1
    assert not page.js("document.querySelectorAll('.problem').length") or page.js(
        "[...document.querySelectorAll('details.case')]"
        ".every((each) => each.dataset.state === 'ready')"
    )
    unseen = r"/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u"
    assert not page.js(
        f"[...document.body.textContent].some((each) => !'\\n\\t'.includes(each) && {unseen}"
        ".test(each))"
    )


def test_markup_that_got_into_the_page_all_the_same_would_not_run(
    page: Page, small: RunReport
) -> None:
    page.open(small)

    # What an attacker would have to do, in a task of the page's own: the driver's may evaluate.
    page.attacked = True
    page.js("""setTimeout(() => {
        const attempts = [
          () => { document.body.innerHTML = "<img src=x onerror='window.hacked=1'>"; },
          () => eval("window.hacked = 1"),
          () => document.write("<script>window.hacked = 1</" + "script>"),
          () => document.body.setAttribute("onclick", "window.hacked = 1"),
        ];
        window.refused = attempts.map((attempt) => {
          try { attempt(); } catch (error) { return error.name; }
          return "done";
        });
    })""")
    page.until("window.refused")

    assert page.js("window.refused") == ["TypeError", "EvalError", "TypeError", "TypeError"]
    assert page.js("window.hacked") is None


@pytest.mark.parametrize("hostile", [False, True])
@pytest.mark.parametrize("width", [360, 420, 768, 1280])
@pytest.mark.sampled(8)
def test_the_page_never_scrolls_sideways(page: Page, width: int, hostile: bool) -> None:
    page.cdp(
        "Emulation.setDeviceMetricsOverride",
        width=width, height=800, deviceScaleFactor=1, mobile=width < 500,
    )  # fmt: skip
    long = divergent("tools/" + "a_very_long_name_" * 8, "wordwithoutanend" * 40)
    page.open(hostile_report() if hostile else report(long, *several(page.folder).cases))
    page.press("w", "o")
    page.unfold()

    assert page.js("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_stands_out_from_its_ground(page: Page, scheme: str) -> None:
    page.cdp(
        "Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}]
    )
    page.open(several(page.folder))
    page.press("w", "o")
    page.unfold()

    assert page.js(_TOO_PALE) == []
    ground = page.js("getComputedStyle(document.body).backgroundColor")
    assert (ground == "rgb(255, 255, 255)") is (scheme == "light")


_TOO_PALE: Final = """(() => {
  const parts = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, at) => sum + v * [0.2126, 0.7152, 0.0722][at], 0);
  const ground = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const found = parts(getComputedStyle(each).backgroundColor);
      if (found.length === 3 || found[3] === 1) return found;
    }
    return [255, 255, 255];
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const pale = new Set();
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !element.checkVisibility()) continue;
    const [one, other] = [light(parts(getComputedStyle(element).color)), light(ground(element))];
    const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    if (contrast < 4.5) pale.add(`${element.tagName}.${element.className} ${contrast.toFixed(2)}`);
  }
  return [...pale];
})()"""


def test_nothing_moves(page: Page, small: RunReport) -> None:
    page.open(small).until("document.querySelector('#case-1[data-state=ready]') !== null")

    assert page.js("document.getAnimations().length") == 0
    assert (
        page.js("""[...document.querySelectorAll("*")].filter((each) => {
        const style = getComputedStyle(each);
        return style.transitionDuration !== "0s" || style.animationName !== "none"
          || style.scrollBehavior === "smooth";
    }).length""")
        == 0
    )


def test_a_run_without_findings_says_so_calmly(page: Page) -> None:
    page.open(report(equal("text/alike"), equal("text/same")))

    assert page.text("h1") == "Parity"
    assert "No differences." in page.text("#findings")
    page.press("n", "d", "c", "w", "o")  # nothing to go to, and nothing breaks
    page.press("/")
    page.press("same")
    page.until("document.querySelector('#all-cases').open")
    assert "text/same" in page.text("#all-cases")
    assert "text/alike" not in page.text("#all-cases")


def test_an_address_can_name_a_finding(page: Page, small: RunReport) -> None:
    page.open(small)
    page.driver.get("about:blank")
    page.driver.get((page.folder / "index.html").as_uri() + "#case-2")

    page.until("document.querySelector('#case-2[data-state=ready]') !== null")


def test_results_without_timelines_show_their_differences(page: Page) -> None:
    for kept in ("", "bm8="):
        page.open(report(replace(divergent("tools/first", HOSTILE), timelines=kept)))
        page.until("document.querySelector('#case-1[data-state=ready]') !== null")

        assert "onerror" in page.text("#case-1 .differences")
        assert page.js("document.querySelector('.timeline')") is None


def test_details_that_are_broken_say_so(page: Page, small: RunReport) -> None:
    page.open(small)
    page.js("document.getElementById('case-2-data').firstChild.data = '\"eJwAAA==\"'")
    page.js("document.querySelector('#case-2').open = true")

    assert page.until("document.querySelector('#case-2').dataset.state") == "broken"
    assert "cannot be shown" in page.js("document.querySelector('#case-2 .problem').textContent")


def test_the_screens_of_both_sides_are_drawn_side_by_side(page: Page) -> None:
    """A script in a picture does not run: it is an image."""
    shown = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 9 {height}'>"
        f"<script>window.attacked = true</script><text>{height}</text></svg>"
        for height in (3, 6)
    ]
    sides = [
        replace(observation(runtime), screens=[Screen(lines=(runtime,), picture=picture.__str__)])
        for runtime, picture in zip(("legacy", "adk"), shown, strict=True)
    ]
    case = compare_repeated(sides[:1], sides[1:], Facts(name="text/screen"))
    page.open(report(replace(case, phase="A")))
    page.until("document.querySelectorAll('#case-1-first .pictures img').length === 2")
    page.until("[...document.querySelectorAll('.pictures img')].every((img) => img.complete)")

    images = "[...document.querySelectorAll('.pictures img')]"
    assert page.js(f"{images}.every((img) => img.naturalWidth > 0)")
    assert page.js(f"{images}.map((img) => img.alt)") == [
        "The screen of legacy; its text is below.",
        "The screen of adk; its text is below.",
    ]
    assert page.js("window.attacked === undefined")
    assert not page.attacked
