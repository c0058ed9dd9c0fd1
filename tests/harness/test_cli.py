"""What `parity --help` says, and what it answers to a word that it does not know."""

import ast
import importlib
import inspect
import re
from itertools import pairwise
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from harness.cli import parity
from harness.commands.naming import cassette_place

REPOSITORY = Path(__file__).parents[2]
GROUPS = ("run and read", "corpus", "search", "evidence", "agents")
FAMILIES = "|".join(each.name for each in (REPOSITORY / "cassettes").iterdir() if each.is_dir())


def invoke(*words: str) -> Result:
    # 78: click leaves two columns of a terminal of 80 free.
    return CliRunner().invoke(parity, list(words), prog_name="parity", terminal_width=78)


def commands() -> list[str]:
    return parity.list_commands(click.Context(parity))


def sections() -> dict[str, list[str]]:
    """The lines of the help under each heading of commands."""
    found: dict[str, list[str]] = {}
    for line in invoke("--help").output.splitlines():
        if line.startswith("Commands"):
            found[line] = []
        elif found and line.startswith("  "):
            found[list(found)[-1]].append(line)
    return found


def test_every_command_stands_in_a_named_group() -> None:
    found = sections()

    assert list(found) == [f"Commands, {group}:" for group in GROUPS]
    listed = [line.split()[0] for lines in found.values() for line in lines if line[2] != " "]
    assert sorted(set(listed) & set(commands())) == sorted(commands())


def test_no_function_of_a_command_imports() -> None:
    modules = sorted((REPOSITORY / "harness").glob("command*/*.py"))
    hidden = [
        f"{module.name}:{node.lineno}"
        for module in modules
        for function in ast.walk(ast.parse(module.read_text()))
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]

    assert len(modules) > 20
    assert hidden == []


def test_each_command_passes_just_the_parameters_that_its_function_takes() -> None:
    for name in commands():
        command = parity.get_command(click.Context(parity), name)
        for each in getattr(command, "commands", {"": command}).values():
            target = inspect.getclosurevars(each.callback).nonlocals
            runs = getattr(importlib.import_module(target["module"]), target["name"])
            takes = inspect.signature(runs).parameters.values()
            passed = {option.name for option in each.params if option.expose_value}
            whole = any(one.kind is one.VAR_KEYWORD for one in takes)
            named = {one.name for one in takes if one.kind is not one.VAR_KEYWORD} - {"ctx"}
            assert named == passed or (whole and named < passed), name


def test_no_description_is_cut_off_or_takes_a_second_line() -> None:
    for lines in sections().values():
        for line in (line for line in lines if line.split()[0] != "Exit"):
            assert "..." not in line
            assert re.match(r"  [a-z]", line), line


def test_help_fits_eighty_columns() -> None:
    for words in [["--help"], *([name, "--help"] for name in commands())]:
        for line in invoke(*words).output.splitlines():
            assert len(line) <= 79, (words, line)


def test_the_cassettes_of_the_examples_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REPOSITORY)
    named = []
    for name in ["", *commands()]:
        for line in invoke(*name.split(), "--help").output.splitlines():
            words = line.split() if line.startswith("  parity ") else []
            sources = [word for before, word in pairwise(words) if before[:1] != "-"]
            named += [
                word for word in sources if re.match(rf"(cassettes/)?({FAMILIES})(/|$)", word)
            ]
    for word in named:
        cassette_place(word)
    assert len(named) > 5


@pytest.mark.parametrize(
    ("words", "near"),
    [(["runn"], "run"), (["show-me"], "show"), (["basline", "--check"], "baseline")],
)
def test_a_misspelt_command_gets_a_suggestion(words: list[str], near: str) -> None:
    result = invoke(*words)

    assert result.exit_code == 2
    assert f"No such command '{words[0]}'. Did you mean '{near}'" in result.output


def test_a_misspelt_option_gets_a_suggestion() -> None:
    result = invoke("run", "--conrtol", "legacy")

    assert result.exit_code == 2
    assert "'--control'" in result.output


def test_what_is_near_to_no_command_gets_none() -> None:
    assert "Did you mean" not in invoke("xyzzy").output
