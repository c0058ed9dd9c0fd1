"""URLs, addresses and HTML: vectors from the published core's own modules."""

from __future__ import annotations

import pytest

from services.tools.html_text import html_to_text
from services.tools.texts import truncate_text
from services.tools.web_addresses import is_private_address
from services.tools.web_urls import (
    InvalidUrl,
    WebUrl,
    normalized,
    parse_prompt,
    parse_url,
    raw_github_url,
)


@pytest.mark.parametrize(
    ("text", "href"),
    [
        ("HTTP://EXAMPLE.com.:80/a/../b", "http://example.com./b"),
        ("https:\\\\h.c\\d", "https://h.c/d"),
        ("http:h.c", "http://h.c/"),
        ("http://bücher.ch/é?ü='#`", "http://xn--bcher-kva.ch/%C3%A9?%C3%BC=%27#%60"),
        ("http://☃.net", "http://xn--n3h.net/"),
        ("http://a%41b.c", "http://aab.c/"),
        ("http://0x7f.1", "http://127.0.0.1/"),
        ("http://2130706433", "http://127.0.0.1/"),
        ("http://[1:2:0:0:5:0:0:8]", "http://[1:2::5:0:0:8]/"),
        ("http://[::ffff:1.2.3.4]:8080", "http://[::ffff:102:304]:8080/"),
        ("http://u:p@h.c/a|b^c`", "http://u:p@h.c/a|b^c%60"),
        ("http://:@h.c", "http://h.c/"),
        ("http://h.c/%2e%2E/x/%2e", "http://h.c/x/"),
        ("http://h.c/a??#", "http://h.c/a??#"),
        ("http://h.c,", "http://h.c,/"),
        ("http://a`{b}", "http://a`{b}/"),
        ("http://XN--fa-hia.c", "http://xn--fa-hia.c/"),
    ],
)
def test_urls_are_written_as_javascript_writes_them(text, href):
    assert parse_url(text).href == href


@pytest.mark.parametrize(
    "text",
    [
        "http://",
        "http:///",
        "http://a b",
        "http://256.1.1.1",
        "http://1.2.3.4.5",
        "http://[::1",
        "http://h.c:99999",
        "http://h.c:x",
        "http://a|b",
        "http://xn--",
        "http://xn--a.c",
        "http://09.1.1.1",
        "://x",
        "1a://x",
        "foo://a b",
        "file://u@h",
        "ws://",
    ],
)
def test_a_text_that_is_no_url_is_refused(text):
    with pytest.raises(InvalidUrl):
        parse_url(text)


@pytest.mark.parametrize("text", ["ftp://h.c/x", "mailto:a@b", "foo://x", "file:///etc", "data:,"])
def test_urls_of_other_schemes_are_valid_and_not_fetched(text):
    assert parse_url(text) is None


def url_of(text: str) -> WebUrl:
    found = parse_url(text)
    assert found is not None
    return found


def test_pages_are_compared_without_the_last_slash():
    assert [normalized(url_of(f"http://h.c{path}")).path for path in ("", "/", "/a/", "/a//")] == [
        "/",
        "/",
        "/a",
        "/a/",
    ]


def test_only_blobs_of_github_are_rewritten():
    blob = url_of("https://github.com/a/b/blob/main/blob/c.md")
    assert raw_github_url(blob).href == "https://raw.githubusercontent.com/a/b/main/blob/c.md"
    other = url_of("https://github.com/a/b/tree/main")
    assert raw_github_url(other) == other


def test_words_without_a_scheme_are_not_looked_at():
    urls, faults = parse_prompt("see example.com, http://h.c/a. and (http://x.y)")
    assert [url.href for url in urls] == ["http://h.c/a."]
    assert faults == ['Malformed URL detected: "(http://x.y)".']


@pytest.mark.parametrize(
    ("address", "private"),
    [
        ("10.1.2.3", True),
        ("172.31.0.1", True),
        ("172.32.0.1", False),
        ("100.127.0.1", True),
        ("100.128.0.1", False),
        ("169.254.169.254", True),
        ("192.0.2.1", True),
        ("198.18.0.1", True),
        ("198.20.0.1", False),
        ("224.0.0.1", True),
        ("255.255.255.255", True),
        ("8.8.8.8", False),
        ("0.1.2.3", True),
        ("[::1]", True),
        ("fe80::1", True),
        ("fd00::1", True),
        ("[::ffff:a00:1]", True),
        ("[::ffff:808:808]", False),
        ("2002::1", True),
        ("2001::1", True),
        ("2001:db8::1", True),
        ("2606:4700::1111", False),
        ("64:ff9b::1", True),
        ("localhost", True),
        ("x.internal", True),
        ("example.com", False),
    ],
)
def test_private_and_reserved_addresses_are_known(address, private):
    assert is_private_address(address) is private


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<h1>Straße</h1><p>a <b>b</b>c\n d</p>e", "STRASSE\n\na bc d\n\ne"),
        ("<p>unclosed<p>next<div>x", "unclosed\n\nnext\n\nx"),
        ("a<br>b<br/><br>c", "a\nb\n\nc"),
        ("<ul><li>a<li>b<ul><li>c</ul></ul>", " * a\n * b\n   * c"),
        ('<ol start="9" type="1"><li>a</li><li>b</li></ol>', " 9.  a\n 10. b"),
        ('<ol type="i"><li>a<li>b<li>c<li>d</ol>', " i.   a\n ii.  b\n iii. c\n iv.  d"),
        ("<blockquote>a<p>b</blockquote>", "> a\n> \n> b"),
        ("<pre>a\n  b</pre>", "a\n  b"),
        ("<table><tr><th>A<td>B<tr><td>C</table>", "ABC"),
        ("<hr>", "-" * 40),
        ("<head><title>t</title></head><body>b</body>", "b"),
        ("<script>x<y</script><style>p{}</style>&lt;&nbsp;&#x41;", "<\xa0A"),
        ("a <img src=x alt=y> <a href=/z>w</a>", "a w"),
        ("a<b", "a"),
        ("", ""),
    ],
)
def test_html_becomes_plain_text(html, text):
    assert html_to_text(html) == text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ('<a href="/x">y</a>', "y [http://h.c/x]"),
        ('<a href="http://a/"></a>', "http://a/"),
        ('<a href="#f">y</a>', "y"),
        ('<a href="mailto:a@b">y</a>', "y [a@b]"),
        ('<h2><a href="q">y</a></h2>', "Y [q]"),
        ('<img src="/p" alt="q"><img src="r"><img alt="s">', "q [/p][r]s"),
    ],
)
def test_with_a_base_links_and_pictures_are_named(html, text):
    assert html_to_text(html, base_url="http://h.c/") == text


def test_a_deeply_nested_page_is_read():
    assert html_to_text("<div>" * 5000 + "deep").strip() == "deep"


def test_text_is_cut_between_characters_and_loses_its_line_ends():
    assert truncate_text("abc", 3, "#") == "abc"
    assert truncate_text("a\nb\nc", 3, "#") == "abc#"
    assert truncate_text("ae\u0301x", 2, "#") == "a#"
    assert truncate_text("a🦊x", 2, "#") == "a#"
