"""Mutants of the real runtimes that are made for a test, and a corpus of one plain answer each."""

from __future__ import annotations

import ast
import pickle
from datetime import date
from pathlib import Path

from harness.cassette.find import find_cassettes
from harness.mutants.measuring import Case, GoodTask, MutantTask, Table, Unknown, find_out, measure
from harness.mutants.mutant import Mutant
from harness.mutants.operators import Change, Operator
from harness.mutants.places import Place
from harness.mutants.result import Measured
from harness.mutants.source import CODE_ROOT, Edit, Source
from harness.mutants.store import GoodRun, Kept
from harness.parity.waivers import Waivers
from harness.whole_file import write_whole

NONE = Waivers(as_of=date(2026, 11, 22))


def inserted(file: str, function: str, statement: str) -> Mutant:
    """A mutant that runs a statement before anything else in a function."""
    source = Source.read(CODE_ROOT, CODE_ROOT / file)
    node: ast.AST = source.tree
    for name in function.split("."):
        node = next(each for each in ast.walk(node) if getattr(each, "name", None) == name)
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    first = node.body[1] if ast.get_docstring(node) else node.body[0]
    start, _ = source.span(first)
    edit = Edit(start, start, f"{statement}\n{' ' * first.col_offset}")
    last = node.body[-1].end_lineno or first.lineno
    return of_edit(source, edit, function=function, lines=(first.lineno, last))


def of_edit(
    source: Source, edit: Edit, *, function: str = "", lines: tuple[int, int], names: str = ""
) -> Mutant:
    """A mutant of one edit."""
    change = Change(Operator.DROP_STATEMENT, (edit,))
    place = Place(
        module=source.module,
        file=source.file,
        qualname=function,
        function=function,
        statement="made for a test",
        lines=lines,
        line=lines[0],
        names=frozenset(names.split()),
        changes=(change,),
    )
    return Mutant(fingerprint="0" * 12, place=place, change=change)


def good_runs(corpus: Path, *, trusted: bool = True) -> dict[str, GoodRun]:
    """What the good runs of a corpus do, kept beside it."""
    kept = corpus.parent / "kept"
    unknown = tuple(
        Unknown(file=file, trusted=trusted, kept=Kept.of(kept, file))
        for file in find_cassettes([corpus])
    )
    return find_out(GoodTask(unknown))


def measured(
    corpus: Path,
    mutant: Mutant,
    runtime: str = "legacy",
    baselines: Path | None = None,
    *,
    keep: bool = False,
) -> Measured:
    """The result of a mutant that every case of the corpus executes in a runtime, or in both.

    With `keep` the good runs are those that are kept already.
    """
    kept = corpus.parent / "kept"
    files = find_cassettes([corpus])
    good = {} if keep else good_runs(corpus)
    for file in files if keep else ():
        known = Kept.of(kept, file).good()
        assert known is not None
        good[file.name] = known
    cases = tuple(
        Case(
            file=file,
            trusted=True,
            kept=Kept.of(kept, file),
            digests={name: run.digest for name, run in good[file.name].facts.items()},
        )
        for file in files
    )
    table = corpus.parent / "table"
    write_whole(table, pickle.dumps(Table(cases=cases, waivers=NONE, baselines=baselines)))
    runtimes = ("legacy", "adk") if runtime == "both" else (runtime,)
    runs = tuple((number, name) for name in runtimes for number in range(len(files)))
    both = frozenset(range(len(files))) if runtime == "both" else frozenset()
    return measure(MutantTask(mutant=mutant, table=table, runs=runs, both=both))
