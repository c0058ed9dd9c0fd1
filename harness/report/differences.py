"""The generated part of `docs/differences-from-upstream.md`: what waivers accept, in Markdown.

`python -m harness.report.differences` writes it anew in a checkout; with `--check` it only says
whether that is needed. Whatever a waiver's text holds, it is shown as it is and changes nothing of
the page around it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import Final

import click

from harness.errors import HarnessError
from harness.parity.divergence import ABSENT, ChannelName
from harness.parity.waivers import Waiver, load_waivers
from harness.report.markdown import code, prose
from harness.whole_file import write_whole
from services.wire import Json

__all__ = ["BEGIN", "END", "PageError", "generated_part", "main", "page_with"]

BEGIN: Final = "<!-- waivers: begin (written by `nox -s docs`, never by hand) -->"
END: Final = "<!-- waivers: end -->"

_UPSTREAM: Final = "upstream"
_PAGE: Final = Path("docs", "differences-from-upstream.md")
_WAIVERS: Final = Path("parity_tests", "waivers.toml")
_MEND: Final = "nox -s docs"

_PLAIN: Final = re.compile(r"(?:[^\\.^$*+?{}\[\]|()]|\\[^A-Za-z0-9])*", re.DOTALL)
"""A regular expression that stands for one text."""


class PageError(HarnessError):
    """The page does not say where the generated part belongs, or cannot be read or written."""


def generated_part(waivers: Iterable[Waiver]) -> str:
    """What stands between the markers, with a final newline.

    Of the waivers `between` upstream and something else, on either side: grouped by channel in
    causal order, by id within a channel, so that the file's order does not show. Ones between two
    versions of upstream are left out: nothing of ours differs there.
    """
    chosen = sorted((each for each in waivers if _names_upstream(each)), key=lambda each: each.id)
    blocks = []
    for channel in ChannelName:
        found = [_entry(waiver) for waiver in chosen if waiver.channel == channel]
        if found:
            blocks += [f"### {prose(channel)}", *found]
    return "\n\n".join(blocks or ["None."]) + "\n"


def page_with(page: str, part: str) -> str:
    """`page` with `part` between its markers; all else stays as it is.

    A marker counts where it is a whole line.

    Raises:
        PageError: a marker is missing, is there more than once, or the end comes first.
    """
    lines = page.split("\n")
    places = []
    for marker in (BEGIN, END):
        found = [number for number, line in enumerate(lines) if line.strip() == marker]
        if len(found) != 1:
            times = f"{len(found)} times"
            raise PageError(f"the line {marker} occurs {times}; it must occur once")
        places += found
    begin, end = places
    if end < begin:
        raise PageError(f"the line {END} comes before {BEGIN}; put them in order")
    return "\n".join([*lines[: begin + 1], "", *part.split("\n"), *lines[end:]])


def _names_upstream(waiver: Waiver) -> bool:
    between = set(waiver.between or ())
    return _UPSTREAM in between and len(between) > 1


def _entry(waiver: Waiver) -> str:
    """One waiver as a paragraph and a list."""
    control, candidate = waiver.between or ("*", "*")
    does = [_does(control, waiver.control), _does(candidate, waiver.candidate)]
    if control != _UPSTREAM:
        does.reverse()
    place = f"at {code(waiver.path)}" if waiver.path else "the item as a whole"
    kind = f" ({prose(waiver.kind)})" if waiver.kind else ""
    facts = [
        *does,
        f"where: {code(waiver.scenario)}, {place}{kind}",
        f"why: {prose(waiver.reason)}",
        f"owner: {prose(waiver.owner)}, until {waiver.expires.isoformat()}",
    ]
    head = f"{code(waiver.id)}: {prose(waiver.impact)}"
    return "\n".join([head, "", *(f"- {fact}" for fact in facts)])


def _does(runtime: str, value: Json) -> str:
    name = "any runtime" if runtime == "*" else prose(runtime)
    return f"{name}: {_value(value)}"


def _value(value: Json) -> str:
    """What a side has there: a literal as JSON, a pattern in words where it is simple enough."""
    if value == ABSENT:
        return "nothing"
    if isinstance(value, str) and value.startswith("re:"):
        return _pattern(value.removeprefix("re:"))
    return code(json.dumps(value, sort_keys=True, ensure_ascii=False))


def _pattern(pattern: str) -> str:
    before, after = pattern.startswith(".*"), pattern.endswith(".*")
    if pattern == ".*":
        return "anything"
    inner = pattern.removeprefix(".*").removesuffix(".*")
    if not inner or not _PLAIN.fullmatch(inner):
        return f"what matches {code(pattern)}" if pattern else "an empty text"
    how = {
        (False, False): "exactly",
        (False, True): "what begins with",
        (True, False): "what ends with",
        (True, True): "what contains",
    }[before, after]
    text = re.sub(r"\\(.)", r"\1", inner, flags=re.DOTALL)
    return f"{how} {code(text)}"


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if the page is stale.")
@click.pass_context
def main(ctx: click.Context, /, check: bool) -> None:
    """Write the part of docs/differences-from-upstream.md that comes from the waivers.

    Exit codes: 0 the page is as it should be; 1 it is stale (--check); 2 it cannot be made.
    """
    root = ctx.obj or Path(__file__).resolve().parents[2]
    try:
        now, fresh = _pages(root)
        if now != fresh and not check:
            write_whole(root / _PAGE, fresh)
    except HarnessError as error:
        click.echo(str(error), err=True)
        ctx.exit(error.exit_code)
    except OSError as error:
        click.echo(f"{root / _PAGE} cannot be written: {error.strerror}", err=True)
        ctx.exit(PageError.exit_code)
    if now == fresh:
        click.echo(f"{_PAGE} matches the waivers")
    elif check:
        click.echo(
            f"{_PAGE} is stale: it does not match {_WAIVERS}; update it with `{_MEND}`", err=True
        )
        ctx.exit(1)
    else:
        click.echo(f"written: {_PAGE}")


def _pages(root: Path) -> tuple[str, str]:
    """The page as it is and as it should be."""
    file = root / _PAGE
    # The day makes no difference: expired ones are listed too, or the page would change overnight.
    waivers = load_waivers(root / _WAIVERS, as_of=date.min)
    try:
        now = file.read_text("utf-8")
        return now, page_with(now, generated_part(waivers.entries))
    except (OSError, UnicodeDecodeError) as error:
        raise PageError(f"{file} cannot be read: {error}; run this in a checkout") from error
    except PageError as error:
        raise PageError(f"{file}: {error}") from error


if __name__ == "__main__":
    main()
