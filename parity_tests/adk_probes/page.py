"""`docs/adk-plugins.md`: what of the ADK code of others works, as the probes find it.

`python -m parity_tests.adk_probes.page` writes it anew in a checkout; with `--check` it only says
whether that is needed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

import click

from parity_tests.adk_probes.catalogue import GROUPS, all_probes
from parity_tests.adk_probes.differences import DIFFERENCES, USUAL
from parity_tests.adk_probes.judge import Outcome, judged
from parity_tests.adk_probes.probe import Probe
from parity_tests.adk_probes.shipped import LEFT_OUT

__all__ = ["main", "page"]

_PAGE: Final = Path("docs", "adk-plugins.md")
_MEND: Final = "python -m parity_tests.adk_probes.page"
_PATHS: Final = 3
_HEAD: Final = """\
# ADK plugins of others

<!-- Written by `python -m parity_tests.adk_probes.page`, never by hand. -->

A program that embeds the adk runtime gives plugins to `runtimes.adk.open_runtime` as `plugins=`,
and places request processors with `arrange_flow=`. To try a plugin without a program, use
`parity agent --runtime adk --adk-plugin package.module:attribute`: the attribute is a `BasePlugin`,
its class, or a function that makes one. `parity run --adk-plugin` runs the corpus with it: a plugin
that only observes leaves every case at parity. No gate counts such a run.

The plugins come after the runtime's own, in the order given. Subagents have the same instances, as
the agents have that ADK's `AgentTool` runs. The engine closes them when it is closed.

Each row below is a probe: one script of a model, run with the same plugin under a stock `LlmAgent`
and under the adk runtime. The requests, events, state, results and the number of callbacks must be
the same, but for the differences that [the last section](#differences) lists.
"""


def page(outcome_of: Callable[[Probe], Outcome] = judged) -> str:
    """The whole page."""
    probes = all_probes()
    outcomes = {probe.name: outcome_of(probe) for probe in probes}
    works = sum(not outcome.left for outcome in outcomes.values())
    lines = [_HEAD, f"{works} of {len(probes)} probes work.", ""]
    for heading, group in GROUPS:
        lines += [f"## {heading}", "", "| what | works | differences |", "| --- | --- | --- |"]
        for probe in group:
            outcome = outcomes[probe.name]
            named = ", ".join(sorted(outcome.allowed - USUAL))
            lines.append(f"| {probe.row} | {_works(outcome)} | {named} |")
        lines.append("")
    lines += ["Not probed:", "", *(f"- `{name}`: {why}" for name, why in LEFT_OUT.items()), ""]
    lines += ["## Differences", ""]
    lines += [f"- **{each.name}**: {each.reason}" for each in DIFFERENCES]
    return "\n".join(lines) + "\n"


def _works(outcome: Outcome) -> str:
    if not outcome.left:
        return "yes"
    paths = list(
        dict.fromkeys(re.sub(r"\[\d+\]", "[]", each.partition(":")[0]) for each in outcome.left)
    )
    more = f" and {len(paths) - _PATHS} more" if len(paths) > _PATHS else ""
    return f"no: {', '.join(f'`{path}`' for path in paths[:_PATHS])}{more}"


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if the page is stale.")
@click.pass_context
def main(ctx: click.Context, /, check: bool) -> None:
    """Write docs/adk-plugins.md.

    Exit codes: 0 the page is as it should be; 1 it is stale (--check).
    """
    file = (ctx.obj or Path(__file__).resolve().parents[2]) / _PAGE
    now = file.read_text("utf-8") if file.is_file() else ""
    fresh = page()
    if now == fresh:
        click.echo(f"{_PAGE} is as the probes find it")
    elif check:
        click.echo(f"{_PAGE} is stale: the probes find otherwise; mend it with `{_MEND}`", err=True)
        ctx.exit(1)
    else:
        file.write_text(fresh, "utf-8")
        click.echo(f"written: {_PAGE}")


if __name__ == "__main__":
    main()
