import json
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.errors import LoadProblem, ReplayFailure, UsageError
from harness.experiment.case import Skipped
from harness.inventory import Inventory
from harness.journal_header import JournalHeader
from harness.report import journal_lines
from harness.report.journal import Journal, read_header, read_journal
from tests.harness.report.journals import (
    DIVERGENT,
    HEADER,
    INVENTORY,
    NAMES,
    RESULT,
    with_files,
    write_journal,
)


def lines_of(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_a_line_is_on_disk_as_soon_as_it_is_written(tmp_path: Path) -> None:
    with Journal(tmp_path / "j", HEADER, INVENTORY) as journal:
        journal.started("a/one")
        after_start = lines_of(tmp_path / "j")
        journal.outcome(RESULT.cassette, RESULT)
        after_end = lines_of(tmp_path / "j")

    assert after_start[-1] == {"started": "a/one"}
    assert after_end[-1]["finished"] == "a/one"
    assert after_end[-1]["verdict"] == "parity"
    assert after_end[-1]["digests"] == ["1", "1"]


def test_it_reads_back_what_was_written(tmp_path: Path) -> None:
    problem = LoadProblem(file="b/four.yaml", message="is wrong")
    file = tmp_path / "j"
    with Journal(file, HEADER, INVENTORY) as journal:
        for result in (RESULT, DIVERGENT):
            journal.started(result.cassette)
            journal.outcome(result.cassette, result, 12.34)
        journal.outcome("b/four", problem)
        journal.outcome("a/three", Skipped())
        journal.ended()

    record = read_journal(file)

    assert (record.header, record.inventory) == (HEADER, INVENTORY)
    assert record.finished == {"a/one": RESULT, "a/two": DIVERGENT}
    assert record.problems == {"b/four": problem}
    assert record.skipped == {"a/three"}
    assert record.took_ms == {"a/one": 12.3, "a/two": 12.3}
    assert (record.in_flight, record.missing, record.torn, record.ended) == ((), (), False, True)


def test_digests_under_names_that_look_like_secrets_stay_as_they_are(tmp_path: Path) -> None:
    inventory = with_files("corpus", a__api_key="a", a__max_tokens="b", a__password="c")
    header = replace(HEADER, components=inventory.digests)

    with Journal(tmp_path / "j", header, inventory):
        pass

    assert read_journal(tmp_path / "j").inventory == inventory


def test_how_long_a_case_took_is_no_part_of_its_result(tmp_path: Path) -> None:
    found = []
    for name, took_ms in (("quick", 1.0), ("slow", 2000.0)):
        with Journal(tmp_path / name, HEADER, INVENTORY) as journal:
            journal.outcome(RESULT.cassette, RESULT, took_ms)
        found.append((tmp_path / name).read_text().splitlines()[-1])

    assert found[0] == found[1]


def test_packed_timelines_that_look_like_a_key_stay_as_they_are(tmp_path: Path) -> None:
    key = "AIza" + "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q"
    result = replace(RESULT, timelines=f"x/{key}/y", remarks=(f"it said {key}",))

    found = read_journal(write_journal(tmp_path / "j", [result])).finished["a/one"]

    assert found.timelines == result.timelines
    assert key not in found.remarks[0]


def test_what_is_missing_are_the_cases_that_nothing_came_of(tmp_path: Path) -> None:
    record = read_journal(write_journal(tmp_path / "j", in_flight="a/two"))

    assert record.planned == NAMES
    assert record.in_flight == ("a/two",)
    assert record.missing == ("a/three", "a/two", "b/four")


def test_a_part_of_the_corpus_is_planned_by_a_shard(tmp_path: Path) -> None:
    shards = [
        read_journal(write_journal(tmp_path / f"{n}", (), header=replace(HEADER, shard=f"{n}/3")))
        for n in (1, 2, 3)
    ]

    assert [shard.planned for shard in shards] == [("a/one", "b/four"), ("a/three",), ("a/two",)]


def test_the_header_can_be_read_alone(tmp_path: Path) -> None:
    file = write_journal(tmp_path / "j")
    file.write_text(file.read_text().splitlines()[0] + "\nwhatever\n")

    assert read_header(file) == HEADER


def test_it_says_that_the_run_came_to_its_end(tmp_path: Path) -> None:
    assert read_journal(write_journal(tmp_path / "j", ended=True)).ended
    assert not read_journal(write_journal(tmp_path / "j")).ended


@pytest.mark.parametrize("cut", [1, 5, 40])
def test_a_torn_last_line_costs_that_line_only(tmp_path: Path, cut: int) -> None:
    file = write_journal(tmp_path / "j", (RESULT, DIVERGENT))
    file.write_bytes(file.read_bytes()[:-cut])

    record = read_journal(file)

    assert record.torn
    assert list(record.finished) == ["a/one"]
    assert record.in_flight == ("a/two",)


def test_resuming_goes_on_behind_the_last_whole_line(tmp_path: Path) -> None:
    file = write_journal(tmp_path / "j", in_flight="a/two")
    file.write_bytes(file.read_bytes() + b'{"finished": "a/tw')

    with Journal(file, HEADER, INVENTORY, resume=True) as journal:
        assert journal.before is not None
        assert journal.before.finished == {"a/one": RESULT}
        journal.outcome(DIVERGENT.cassette, DIVERGENT)

    record = read_journal(file)
    assert list(record.finished) == ["a/one", "a/two"]
    assert not record.torn


def test_without_resume_a_journal_begins_anew(tmp_path: Path) -> None:
    file = write_journal(tmp_path / "j")
    with Journal(file, HEADER, INVENTORY):
        pass

    assert read_journal(file).finished == {}


def test_an_unfinished_journal_is_not_written_over(tmp_path: Path) -> None:
    file = write_journal(tmp_path / "j", ended=False)
    before = file.read_bytes()

    with Journal(file, HEADER, INVENTORY) as journal:
        aside = journal.set_aside

    assert aside == tmp_path / "j.unfinished"
    assert aside.read_bytes() == before
    assert read_journal(file).finished == {}


def test_a_finished_journal_is_not_set_aside(tmp_path: Path) -> None:
    file = write_journal(tmp_path / "j", ended=True)

    with Journal(file, HEADER, INVENTORY) as journal:
        assert journal.set_aside is None


@pytest.mark.parametrize("kept", [None, 0, 1, 20, 700])
def test_resuming_a_run_that_had_not_written_its_head_begins_it(
    tmp_path: Path, kept: int | None
) -> None:
    file = tmp_path / "new" / "j"
    if kept is not None:
        write_journal(file)
        file.write_bytes(file.read_bytes()[:kept])

    with Journal(file, HEADER, INVENTORY, resume=True) as journal:
        assert journal.before is None or journal.before.finished == {}

    assert read_journal(file).header == HEADER


def test_resuming_does_not_write_over_what_is_no_journal(tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("mine")

    with pytest.raises(UsageError):
        Journal(tmp_path / "notes", HEADER, INVENTORY, resume=True)

    assert (tmp_path / "notes").read_text() == "mine"


@pytest.mark.parametrize(
    ("header", "inventory", "words"),
    [
        (replace(HEADER, candidate="legacy"), INVENTORY, "candidate was 'adk' and is 'legacy'"),
        (replace(HEADER, trust=True), INVENTORY, "trust was False and is True"),
        (replace(HEADER, repeat=2), INVENTORY, "repeat was 1 and is 2"),
        (replace(HEADER, phase="A"), INVENTORY, "phase was None and is 'A'"),
        (replace(HEADER, shard="1/2"), INVENTORY, "shard was '' and is '1/2'"),
        (replace(HEADER, as_of="2026-06-02"), INVENTORY, "as_of was '2026-06-01' and is"),
        (replace(HEADER, environment={}), INVENTORY, "python was 'CPython 3.11.7' and is None"),
        (replace(HEADER, made_of={"x": "1"}), INVENTORY, "x was None and is '1'"),
        (
            HEADER,
            with_files("corpus", a__one="7"),
            "corpus: a/one gone, a/one.py new, a/three gone",
        ),
        (HEADER, with_files("runtimes", runtimes__x="5"), "runtimes: runtimes/x.py changed"),
        (HEADER, with_files("distributions", click="1"), "distributions: click gone"),
    ],
)
def test_a_run_that_differs_is_not_resumed_and_it_says_in_what(
    tmp_path: Path, header: JournalHeader, inventory: Inventory, words: str
) -> None:
    file = write_journal(tmp_path / "j")
    before = file.read_bytes()

    with pytest.raises(UsageError, match="another run") as caught:
        Journal(file, header, inventory, resume=True)

    assert words in str(caught.value)
    assert file.read_bytes() == before


def test_information_alone_keeps_no_run_from_being_resumed(tmp_path: Path) -> None:
    file = write_journal(tmp_path / "j")
    later = replace(
        HEADER, started_at="2027", revision="", dirty=True, paths=("elsewhere",), expr="a"
    )

    with Journal(file, later, INVENTORY, resume=True) as journal:
        assert journal.before is not None
        assert journal.before.finished == {"a/one": RESULT}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "has no header"),
        ("not json\n", "line 1 is not the header of a journal"),
        ("[]\n", "it is not an object"),
        ("{}\n", "does not name a journal format"),
        ('{"journal": 1, "control": "legacy"}\n', "journal format 1; this build reads 2"),
        ('{"journal": 2}\n', "control is missing"),
        (json.dumps({**HEADER.to_json(), "surprise": 1}) + "\n", "surprise: unknown key"),
        (
            json.dumps({**HEADER.to_json(), "repeat": True}) + "\n",
            "repeat: must be a whole number, not True",
        ),
        (json.dumps({**HEADER.to_json(), "shard": "0/2"}) + "\n", "no part of a corpus"),
        (json.dumps({**HEADER.to_json(), "as_of": "today"}) + "\n", "Invalid isoformat"),
        (json.dumps({**HEADER.to_json(), "revision": "--all"}) + "\n", "is no revision"),
        (
            json.dumps({**HEADER.to_json(), "environment": {"a": 1}}) + "\n",
            "environment.a: must be text",
        ),
        (json.dumps(HEADER.to_json()) + "\n", "ends before the inventory of the run"),
        ("[" * 100_000 + "\n", "deeper than"),
    ],
)
def test_what_is_no_journal_is_refused(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "j").write_text(text)

    with pytest.raises(UsageError) as caught:
        read_journal(tmp_path / "j")

    assert words in str(caught.value)


def finished(**changes: Any) -> Callable[[list[dict[str, Any]]], None]:
    return lambda lines: lines[4].update(changes)


def last(line: dict[str, Any]) -> Callable[[list[dict[str, Any]]], None]:
    return lambda lines: lines.append(line)


DEEP: Any = json.loads("[" * 300 + "]" * 300)


@pytest.mark.parametrize(
    ("tamper", "words"),
    [
        (
            finished(verdict="divergent"),
            "line 5 is not a line of a journal: 'verdict' is not what the",
        ),
        (finished(cassette="a/two"), "line 5"),
        (finished(surprise=1), "'surprise' is not what"),
        (finished(remarks="all"), "remarks: must be a list, not 'all'"),
        (finished(remarks=[1]), "remarks[0]: must be text, not 1"),
        (finished(rules={"r": "2"}), "'rules' is not what"),
        (finished(digests=["1"]), "line 5"),
        (finished(cost=[1, 2]), "cost[0]: must be a mapping, not 1"),
        (finished(finished="z/none"), "'z/none' is no case of this run"),
        (lambda lines: lines[4].pop("divergences"), "'divergences' is missing"),
        (last({"finished": "a/one", **replace(RESULT, digests=("1", "2")).to_json()}), "twice"),
        (last({"started": "a/two", "more": 1}), "other keys"),
        (last({"started": ["a/two"]}), "is no case of this run"),
        (last({"took": "a/two", "ms": "long"}), "line 6"),
        (last({"ended": False}), "is not a line of a journal"),
        (last({}), "is not a line of a journal"),
        (
            last({"started": "a/two", "ended": DEEP}),
            "line 6 is not a line of a journal: it is nested deeper",
        ),
        (lambda lines: lines.pop(1), "line 2"),
        (lambda lines: lines.insert(2, lines[1]), "it has two inventories"),
        (lambda lines: lines[1]["inventory"]["corpus"]["files"].pop("b/four"), "digest of corpus"),
        (lambda lines: lines[1]["inventory"].pop("corpus"), "no corpus"),
        (lambda lines: lines[1]["inventory"]["corpus"].update(files={"a": 1}), "not texts"),
    ],
)
def test_what_no_run_writes_is_refused_by_its_line(
    tmp_path: Path, tamper: Callable[[list[dict[str, Any]]], None], words: str
) -> None:
    file = write_journal(tmp_path / "j")
    lines = lines_of(file)
    tamper(lines)
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))

    with pytest.raises(UsageError) as caught:
        read_journal(file)

    assert words in str(caught.value)


def test_a_number_that_is_no_json_is_refused(tmp_path: Path) -> None:
    file = write_journal(tmp_path / "j")
    file.write_text(file.read_text().replace("12.3", "NaN"))

    with pytest.raises(UsageError, match=r"line 4 .* NaN is no JSON"):
        read_journal(file)


def test_a_journal_that_is_too_large_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_journal(tmp_path / "j")

    monkeypatch.setattr(journal_lines, "MAX_LINE", 300)
    with pytest.raises(UsageError, match=r"line 1 .* longer than 300"):
        read_journal(file)
    monkeypatch.setattr(journal_lines, "MAX_BYTES", 300)
    with pytest.raises(UsageError, match="larger than 300"):
        read_journal(file)


@contextmanager
def no_file_may_grow() -> Iterator[None]:
    """What a full disk is like, for a process without a disk of its own."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_is_reported_where_a_journal_was_asked_for(tmp_path: Path) -> None:
    with no_file_may_grow():
        with pytest.raises(ReplayFailure, match="File too large; free disk space"):
            Journal(tmp_path / "j", HEADER, INVENTORY)
        with Journal(tmp_path / "j", HEADER, INVENTORY, asked_for=False) as journal:
            journal.outcome(RESULT.cassette, RESULT)
    assert [file.name for file in tmp_path.iterdir()] == ["j"]


def test_a_place_that_cannot_be_written_or_read_is_wrong_usage(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(UsageError, match="cannot be written"):
        Journal(tmp_path / "file" / "j", HEADER, INVENTORY)
    with pytest.raises(UsageError, match="cannot be read"):
        read_journal(tmp_path / "gone")
    with pytest.raises(UsageError, match="Is a directory"):
        read_journal(tmp_path)
