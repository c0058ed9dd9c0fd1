"""Asks the published core for the answers that are missing, and keeps them.

`answers/SUBJECT.json` is a list of `[input, answer]`. To add an input, add `[input]` and run
`python -m parity_tests.core_answers.record SUBJECT`. With `--all` every answer is asked for anew.
"""

from __future__ import annotations

import json
from typing import Any, Final

import click

from parity_tests.core_answers.asking import core_answers
from parity_tests.core_answers.subject import answers_file
from runtimes.published import UpstreamUnavailable

__all__ = ["main"]

_WHOLE: Final = 2
"""An input and its answer."""


@click.command(help=__doc__)
@click.argument("subjects", nargs=-1, required=True)
@click.option("--all", "anew", is_flag=True, help="Ask for every answer anew.")
def main(subjects: tuple[str, ...], anew: bool) -> None:
    """Fill in what is missing in the files of these subjects."""
    for name in subjects:
        if not answers_file(name).is_file():
            raise click.BadParameter(f"{name}: there is no {answers_file(name).name}")
        pairs: list[list[Any]] = json.loads(answers_file(name).read_text("utf-8"))
        missing = [pair for pair in pairs if anew or len(pair) < _WHOLE]
        try:
            answers = core_answers([(name, pair[0]) for pair in missing])
        except UpstreamUnavailable as error:
            raise click.ClickException(str(error)) from error
        for pair, answer in zip(missing, answers, strict=True):
            pair[1:] = [answer]
        lines = ",\n".join(json.dumps(pair, ensure_ascii=False) for pair in pairs)
        answers_file(name).write_text(f"[\n{lines}\n]\n", "utf-8")
        click.echo(f"{name}: {len(missing)} of {len(pairs)} asked")


if __name__ == "__main__":
    main()
