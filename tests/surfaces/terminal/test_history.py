"""The history of prompts: its search, and what earlier sessions have left in it."""

from __future__ import annotations

import pytest
from textual import events

from surfaces.terminal.composer import PromptInput
from surfaces.terminal.pasted import PastedTexts, typed_text
from tests.surfaces.terminal.conftest import Open, Terminal, says

ONE = [pytest.param("legacy", id="legacy")]


async def paste(screen: Terminal, text: str) -> None:
    screen.app.query_one(PromptInput).post_message(events.Paste(text))
    await screen.pilot.pause()


async def with_three_prompts(screen: Terminal) -> None:
    for number, prompt in enumerate(("first try", "second try", "third")):
        await screen.say(prompt)
        await screen.shows(f"✦ answer {number}")


ANSWERS = [says(f"answer {number}") for number in range(4)]


@pytest.mark.parametrize("terminal", ONE, indirect=True)
async def test_a_search_shows_the_latest_first_and_filters(terminal: Open) -> None:
    async with terminal(*ANSWERS) as screen:
        await with_three_prompts(screen)
        await screen.pilot.press("ctrl+r")
        text = await screen.shows("(r:)")
        assert text.index("● third") < text.index("  second try") < text.index("  first try")
        await screen.type("TRY")
        await screen.hides("● third")
        await screen.shows("● second try")


@pytest.mark.parametrize("terminal", ONE, indirect=True)
async def test_enter_sends_the_chosen_prompt(terminal: Open) -> None:
    async with terminal(*ANSWERS) as screen:
        await with_three_prompts(screen)
        await screen.pilot.press("ctrl+r", "t", "r", "y")
        await screen.shows("● second try")
        await screen.pilot.press("ctrl+r")
        await screen.shows("● first try")
        await screen.pilot.press("enter")
        await screen.shows("✦ answer 3")
        assert screen.sent.count("first try") == 2
        assert "(r:)" not in screen.text


@pytest.mark.parametrize("terminal", ONE, indirect=True)
async def test_tab_takes_it_into_the_input_and_escape_brings_back_what_stood_there(
    terminal: Open,
) -> None:
    async with terminal(*ANSWERS) as screen:
        await with_three_prompts(screen)
        await screen.type("thi")
        for cancel in ("escape", "ctrl+c"):
            await screen.pilot.press("ctrl+r")
            await screen.shows("(r:) thi")
            await screen.pilot.press("r", "x", cancel)
            await screen.hides("(r:)")
            await screen.shows("> thi")
        await screen.pilot.press("ctrl+r")
        await screen.shows("● third")
        await screen.pilot.press("tab")
        await screen.shows("> third")
        assert screen.app.query_one(PromptInput).text == "third"


@pytest.mark.parametrize("terminal", ONE, indirect=True)
async def test_nothing_found_sends_what_was_typed(terminal: Open) -> None:
    async with terminal(*ANSWERS) as screen:
        await with_three_prompts(screen)
        await screen.pilot.press("ctrl+r", "z", "z", "up", "enter")
        await screen.shows("✦ answer 3")
        assert "zz" in screen.sent


@pytest.mark.parametrize("terminal", ONE, indirect=True)
async def test_the_prompts_of_earlier_sessions_are_recalled(terminal: Open) -> None:
    async with terminal(*ANSWERS) as screen:
        await with_three_prompts(screen)
    async with terminal(says("again")) as screen:
        await screen.opened()
        prompt = screen.app.query_one(PromptInput)
        for _ in range(400):
            if prompt._sent[False].found(""):
                break
            await screen.pilot.pause(0.02)
        await screen.pilot.press("up")
        await screen.shows("> third")
        await screen.pilot.press("up", "enter")
        await screen.shows("✦ again")
        assert "second try" in screen.sent


@pytest.mark.parametrize("terminal", ONE, indirect=True)
async def test_a_long_pasted_text_has_a_placeholder_and_is_sent_whole(terminal: Open) -> None:
    text = "\n".join(f"line {number}" for number in range(100_000))
    async with terminal(says("read it")) as screen:
        await paste(screen, text.replace("\n", "\r"))
        await screen.shows("> [Pasted Text: 100000 lines]")
        await screen.type(" is long")
        await screen.pilot.press("enter")
        shown = await screen.shows("✦ read it")
        assert len(text) > 1_000_000
        sent = screen.session.runtime.transcript()[-2]["parts"][-1]["text"]

    assert sent == f"{text} is long"
    assert "... last 99980 lines hidden (Ctrl+O to show) ..." in shown


@pytest.mark.parametrize("terminal", ONE, indirect=True)
async def test_what_is_pasted_is_inert(terminal: Open) -> None:
    async with terminal() as screen:
        await paste(screen, "a\x1b[31mb\x07\x1b]0;title\x07c\td\r\ne")
        assert screen.app.query_one(PromptInput).text == "abc\td\ne"


def test_placeholders_of_one_size_differ() -> None:
    pasted = PastedTexts()
    one, two = "a" * 600, "b" * 600

    shown = [pasted.shown(text) for text in (one, two, one)]

    assert shown == [
        "[Pasted Text: 600 chars]",
        "[Pasted Text: 600 chars #2]",
        "[Pasted Text: 600 chars]",
    ]
    assert pasted.expanded(f"{shown[0]} and {shown[1]}") == f"{one} and {two}"
    assert pasted.expanded("[Pasted Text: 7 lines]") == "[Pasted Text: 7 lines]"


def test_short_texts_are_shown_themselves() -> None:
    assert PastedTexts().shown("one\ntwo") == "one\ntwo"
    assert typed_text("one\r\ntwo\rthree\n") == "one\ntwo\nthree\n"
