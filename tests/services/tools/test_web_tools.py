"""`google_web_search` and `web_fetch`, in front of a model and a network made for the test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from services.abort import AbortError, AbortSignal
from services.clock import VirtualClock
from services.ids import FixedRandom
from services.model.errors import ModelError, NetworkError
from services.state import CoreEvents
from services.tools.contract import ToolErrorType
from services.tools.web_access import Page, WebAccess
from services.tools.web_pages import MAX_CONTENT, TRUNCATED, aggregate

PUBLIC = "http://93.184.216.34"


def answer(text: str, grounding: dict[str, Any] | None = None) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": [{"text": text}]}}
    if grounding is not None:
        candidate["groundingMetadata"] = grounding
    return {"candidates": [candidate]}


@dataclass
class Model:
    """Gives its answers in turn; an exception is raised."""

    answers: list[Any]
    asked: list[tuple[str, str]] = field(default_factory=list)

    async def generate_content(self, config_key: str, text: str, signal: AbortSignal) -> Any:
        self.asked.append((config_key, text))
        given = self.answers.pop(0)
        if isinstance(given, Exception):
            raise given
        return given


@dataclass
class Pages:
    """URL → page, or what is raised; the names that resolve."""

    pages: dict[str, Any] = field(default_factory=dict)
    names: dict[str, list[str]] = field(default_factory=dict)
    fetched: list[str] = field(default_factory=list)

    async def addresses(self, host: str) -> list[str]:
        if host not in self.names:
            raise OSError("no such name")
        return self.names[host]

    async def get(self, url: str, headers: Mapping[str, str], signal: AbortSignal) -> Page:
        self.fetched.append(url)
        assert headers["User-Agent"].startswith("Mozilla/5.0")
        found = self.pages.get(url, NetworkError("no such page"))
        if isinstance(found, list):
            found = found.pop(0)
        if isinstance(found, Exception):
            raise found
        return found


def page(body: str | bytes, kind: str = "text/plain", status: int = 200) -> Page:
    data = body.encode() if isinstance(body, str) else body
    return Page(status=status, reason="Reason", headers={"content-type": kind}, body=data)


class Web:
    """A bench with a web around it."""

    def __init__(self, bench, answers: list[Any], pages: Pages | None = None, **settings: Any):
        self.model, self.pages, self.clock = Model(answers), pages or Pages(), VirtualClock()
        changed = replace(bench.host.settings, **settings)
        access = WebAccess(
            model=self.model,
            pages=self.pages,
            clock=self.clock,
            rng=FixedRandom(),
            events=CoreEvents(),
            settings=changed,
        )
        self.bench = type(bench)(
            replace(bench.host, web=access, settings=changed), controller=bench.controller
        )

    async def search(self, query: str = "q"):
        return await self.bench.run("google_web_search", query=query)

    async def fetch(self, prompt: str):
        return await self.bench.run("web_fetch", prompt=prompt)


class TestSearch:
    async def test_markers_stand_at_byte_offsets_and_sources_below(self, bench):
        grounding = {
            "groundingChunks": [
                {"web": {"title": "Café", "uri": "https://c.example"}},
                {"web": {"title": "Two"}},
                {},
            ],
            "groundingSupports": [
                {"segment": {"endIndex": 8}, "groundingChunkIndices": [0]},
                {"segment": {"endIndex": 99}, "groundingChunkIndices": [1, 2]},
                {"groundingChunkIndices": [1]},
            ],
        }
        web = Web(bench, [answer("Le café est ouvert", grounding)])
        result = await web.search("café")
        assert web.model.asked == [("web-search", "café")]
        assert result.llm_content == (
            'Web search results for "café":\n\nLe café[1] est ouvert[2][3]\n\nSources:\n'
            "[1] Café (https://c.example)\n[2] Two (No URI)\n[3] Untitled (No URI)"
        )
        assert result.return_display == 'Search results for "café" returned.'

    async def test_a_marker_inside_a_character_breaks_it_as_upstream_does(self, bench):
        grounding = {
            "groundingChunks": [{"web": {"title": "T", "uri": "U"}}],
            "groundingSupports": [{"segment": {"endIndex": 2}, "groundingChunkIndices": [0]}],
        }
        result = await Web(bench, [answer("aéb", grounding)]).search()
        assert "\n\na\ufffd[1]\ufffdb\n\nSources:" in result.llm_content

    @pytest.mark.parametrize("response", [answer(" \n"), {"candidates": []}, {}])
    async def test_no_text_is_nothing_found(self, bench, response):
        result = await Web(bench, [response]).search()
        assert result.llm_content == 'No search results or information found for query: "q"'
        assert result.return_display == "No information found."

    async def test_a_failure_has_its_reason(self, bench):
        result = await Web(bench, [ModelError("too busy")]).search()
        assert result.error.type is ToolErrorType.WEB_SEARCH_FAILED
        assert result.error.message == 'Error during web search for query "q": too busy'
        assert result.return_display == "Error performing web search."

    async def test_an_abort_is_no_error(self, bench):
        result = await Web(bench, [AbortError()]).search()
        assert result.error is None
        assert result.llm_content == "Web search was cancelled."

    async def test_without_a_model_there_is_no_search(self, bench):
        result = await bench.run("google_web_search", query="q")
        assert result.error.message.endswith("This session has no model to search with.")

    def test_a_query_is_needed(self, bench):
        fault = bench.fault("google_web_search", query=" ")
        assert fault == "The 'query' parameter cannot be empty."


class TestFetch:
    async def test_the_model_is_given_escaped_instructions_and_each_page_once(self, bench):
        web = Web(bench, [answer("Read.")])
        result = await web.fetch(f"Say \"<hi>\" & 'x' of {PUBLIC}/a/ {PUBLIC}:80/a {PUBLIC}")
        assert web.model.asked == [
            (
                "web-fetch",
                (
                    "Follow the user's instructions to process the authorized URLs.\n\n"
                    "<user_instructions>\nSay &quot;&lt;hi&gt;&quot; &amp; &apos;x&apos; of "
                    f"{PUBLIC}/a/ {PUBLIC}:80/a {PUBLIC}\n</user_instructions>\n\n"
                    f"<authorized_urls>\n{PUBLIC}/a\n{PUBLIC}/\n</authorized_urls>\n"
                ),
            )
        ]
        assert result.llm_content == "<untrusted_context>\nRead.\n</untrusted_context>"
        assert result.return_display == "Content processed from prompt."

    async def test_markers_stand_at_utf16_offsets(self, bench):
        grounding = {
            "groundingChunks": [{"web": {"title": "T"}}],
            "groundingSupports": [{"segment": {"endIndex": 3}, "groundingChunkIndices": [0]}],
        }
        result = await Web(bench, [answer("🦊é!", grounding)]).fetch(PUBLIC)
        assert "\n🦊é[1]!\n\nSources:\n[1] T (Unknown URI)\n" in result.llm_content

    @pytest.mark.parametrize(
        ("prompt", "fault"),
        [
            (
                " ",
                "The 'prompt' parameter cannot be empty and must contain URL(s) and instructions.",
            ),
            (
                "www.example.com",
                (
                    "The 'prompt' must contain at least one valid URL (starting with http:// or "
                    "https://)."
                ),
            ),
            (
                "ftp://a.b http://[x",
                (
                    "Error(s) in prompt URLs:\n"
                    '- Unsupported protocol in URL: "ftp://a.b". Only http and https are '
                    "supported.\n"
                    '- Malformed URL detected: "http://[x".'
                ),
            ),
        ],
    )
    def test_prompts_need_proper_urls(self, bench, prompt, fault):
        assert bench.fault("web_fetch", prompt=prompt) == fault

    async def test_private_addresses_are_skipped_and_reported(self, bench):
        names = {"safe.example": ["93.184.216.34"], "trap.example": ["93.184.216.34", "10.0.0.1"]}
        web = Web(bench, [answer("Read.")], Pages(names=names))
        result = await web.fetch(
            "http://safe.example/ http://trap.example/ http://unknown.example/ http://0x7f.1/"
        )
        assert result.llm_content == (
            "<untrusted_context>\n[Warning] The following URLs were skipped:\n"
            "[Blocked Host] http://trap.example/\n[Blocked Host] http://unknown.example/\n"
            "[Blocked Host] http://127.0.0.1/\n\nRead.\n</untrusted_context>"
        )

    async def test_nothing_left_to_fetch_is_an_error(self, bench):
        web = Web(bench, [])
        result = await web.fetch("http://localhost/")
        assert result.error.type is ToolErrorType.WEB_FETCH_PROCESSING_ERROR
        assert result.error.message == (
            "All requested URLs were skipped: [Blocked Host] http://localhost/"
        )
        assert web.model.asked == []

    async def test_a_host_gets_ten_requests_a_minute(self, bench):
        web = Web(bench, [answer("a"), answer("b")])
        many = await web.fetch(" ".join(f"{PUBLIC}/{number}" for number in range(11)))
        assert f"[Rate limit exceeded] {PUBLIC}/10\n" in many.llm_content
        assert (await web.fetch(PUBLIC)).error is not None
        web.clock.advance(60_000)
        assert (await web.fetch(PUBLIC)).error is None

    async def test_where_the_model_fails_the_pages_are_fetched_and_given_to_it(self, bench):
        pages = Pages(
            pages={
                f"{PUBLIC}/a": page("<h1>Hi</h1><p>a <a href='/x'>b</a> & c", "text/html"),
                f"{PUBLIC}/b": page("", status=404),
            }
        )
        web = Web(bench, [ModelError("no"), answer("Summed up.")], pages)
        result = await web.fetch(f"{PUBLIC}/a {PUBLIC}/b")
        key, question = web.model.asked[1]
        assert key == "web-fetch-fallback"
        assert question.endswith(
            f'<content>\n<source url="{PUBLIC}/a">\nHI\n\na b &amp; c\n</source>\n'
            f'<source url="{PUBLIC}/b">\nError: Request failed with status code 404 Reason\n'
            "</source>\n</content>\n"
        )
        assert result.llm_content == "<untrusted_context>\nSummed up.\n</untrusted_context>"
        assert result.return_display == "Content for 2 URL(s) processed using fallback fetch."

    async def test_an_empty_answer_is_a_failure_of_the_model(self, bench):
        pages = Pages(pages={f"{PUBLIC}/": page("text")})
        web = Web(bench, [answer(" "), answer("ok")], pages)
        assert "ok" in (await web.fetch(PUBLIC)).llm_content

    async def test_no_page_at_all_is_an_error(self, bench):
        result = await Web(bench, [ModelError("no")]).fetch(f"{PUBLIC}/a {PUBLIC}/b")
        assert result.error.type is ToolErrorType.WEB_FETCH_FALLBACK_FAILED
        assert result.error.message == (
            f"All fallback fetch attempts failed: {PUBLIC}/a: no such page, {PUBLIC}/b: no such "
            "page"
        )

    async def test_the_second_question_failing_too_is_an_error(self, bench):
        pages = Pages(pages={f"{PUBLIC}/": page("text")})
        result = await Web(bench, [ModelError("no"), ModelError("never")], pages).fetch(PUBLIC)
        assert result.error.message == "Error during fallback processing: never"

    async def test_files_shown_on_github_are_fetched_raw(self, bench):
        raw = "https://raw.githubusercontent.com/a/b/main/c.md"
        pages = Pages(
            pages={raw: page("text")},
            names={"github.com": ["93.184.216.34"], "raw.githubusercontent.com": ["93.184.216.34"]},
        )
        web = Web(bench, [ModelError("no"), answer("ok")], pages)
        call = web.bench.build("web_fetch", prompt="https://github.com/a/b/blob/main/c.md")
        assert call.confirmation_details().fields["urls"] == [raw]
        await web.bench.execute(call)
        assert pages.fetched == [raw]

    def test_long_prompts_are_described_shortly(self, bench):
        prompt = f"{PUBLIC} " + "x" * 100
        described = bench.build("web_fetch", prompt=prompt).description()
        assert described == (f'Processing URLs and instructions from prompt: "{prompt[:97]}..."')


def test_pages_share_the_room_fairly_and_short_ones_leave_theirs():
    long, short = "x" * MAX_CONTENT, "y" * 10
    shown = aggregate(["a", "b", "c"], {"a": long, "b": short, "c": long}, {}, whole=False)
    first, second, third = shown.split('<source url="')[1:]
    share = (MAX_CONTENT - 10) // 2
    assert first.count("x") == share
    assert second == f'b">\n{short}\n</source>\n'
    assert third.count("x") == MAX_CONTENT - 10 - share - len(TRUNCATED)
    whole = aggregate(["a"], {"a": long}, {}, whole=True)
    assert whole.count("x") == MAX_CONTENT


class TestDirectFetch:
    async def fetch(self, bench, found: Any, url: str = f"{PUBLIC}/"):
        web = Web(bench, [], Pages(pages={url: found}), direct_web_fetch=True)
        return await web.bench.run("web_fetch", url=url)

    async def test_another_way_of_fetching_is_declared(self, bench):
        registry = bench.with_settings(direct_web_fetch=True).registry
        declared = registry.get("web_fetch").declaration()["parametersJsonSchema"]
        assert declared["required"] == ["url"]
        assert bench.with_settings(direct_web_fetch=True).fault("web_fetch", prompt="x") == (
            "params must have required property 'url'"
        )

    async def test_text_is_fenced_in(self, bench):
        result = await self.fetch(bench, page("{}", "application/json"))
        assert result.llm_content == "<untrusted_context>\n{}\n</untrusted_context>"
        assert result.return_display == f"Fetched application/json content from {PUBLIC}/"

    async def test_html_keeps_its_links(self, bench):
        result = await self.fetch(bench, page("<a href='/x'>y</a>", "text/html; charset=utf-8"))
        assert f"\ny [{PUBLIC}/x]\n" in result.llm_content

    async def test_pictures_come_whole(self, bench):
        result = await self.fetch(bench, page(b"\x00", "image/png; q=1"))
        assert result.llm_content == {"inlineData": {"data": "AA==", "mimeType": "image/png"}}

    async def test_an_error_status_is_shown_with_its_headers_and_is_no_error(self, bench):
        result = await self.fetch(bench, page("gone", status=404))
        assert result.error is None
        assert result.llm_content == (
            'Request failed with status 404\nHeaders: {\n  "content-type": "text/plain"\n}\n'
            "Response: gone"
        )

    async def test_a_failure_names_the_page(self, bench):
        result = await self.fetch(bench, NetworkError("broken"))
        assert result.error.message == f"Error during experimental fetch for {PUBLIC}/: broken"

    async def test_private_addresses_are_refused(self, bench):
        result = await self.fetch(bench, page("x"), "http://10.0.0.1/")
        assert result.error.message == (
            "Access to blocked or private host http://10.0.0.1/ is not allowed."
        )


async def test_a_prompt_with_too_many_urls_is_refused(bench):
    prompt = " ".join(f"https://h{number}.invalid/" for number in range(101))
    said = bench.fault("web_fetch", prompt=prompt)
    assert said == "The 'prompt' contains more than 100 URLs."
