import io
from collections.abc import Mapping
from dataclasses import replace

from harness.mutants.choosing import FoundBefore, Reach
from harness.mutants.mutant import Mutant
from harness.mutants.record import Equivalent, Equivalents
from harness.mutants.result import Finding, Measured, Outcome
from harness.mutants.sample import Sample, Tally, draw, waiting
from harness.mutants.show import show
from harness.mutants.source import Source
from harness.mutants.store import RunFacts
from harness.mutants.wording import words_of
from tests.harness.mutants.samples import module, mutants_of

SOURCE = module("def go(x):\n    a(x)\n    b(x)\n    c(x)\n\n\nLIMIT = 3\n", "services.chat.sample")
OTHER = module("def uses(x):\n    return 1\n\n\ndef more(x):\n    return LIMIT\n", "services.user")
FILE = SOURCE.file


def facts(seconds: float = 0.1, **lines: list[int]) -> Mapping[str, RunFacts]:
    """A case's good runs, in which legacy and adk execute these lines of the sample."""
    return {
        runtime: RunFacts(
            digest=runtime,
            lines={FILE: sum(1 << line for line in lines.get(runtime, []))},
            seconds=seconds,
        )
        for runtime in ("legacy", "adk")
    }


def at(line: int, source: Source = SOURCE) -> Mutant:
    return next(mutant for mutant in mutants_of(source) if mutant.place.line == line)


def test_a_mutant_runs_with_the_cases_that_execute_its_line() -> None:
    reach = Reach([facts(legacy=[2], adk=[2]), facts(legacy=[3]), facts(adk=[2])], [SOURCE])

    assert reach.runs(at(2)) == [(0, "legacy"), (0, "adk"), (2, "adk")]
    assert reach.runs(at(3)) == [(1, "legacy")]
    assert reach.runs(at(4)) == []


def test_a_mutant_of_a_runtime_runs_in_that_runtime() -> None:
    source = module("def go(x):\n    a(x)\n", "runtimes.adk.sample")
    lines = {source.file: 1 << 2}
    run = RunFacts(digest="x", lines=lines, seconds=1)

    assert Reach([{"legacy": run, "adk": run}], []).runs(at(2, source)) == [(0, "adk")]


def test_a_constant_is_reached_where_functions_name_it() -> None:
    user = {OTHER.file: 1 << 6}
    run = RunFacts(digest="x", lines=user, seconds=1)
    no_run = RunFacts(digest="x", lines={OTHER.file: 1 << 2}, seconds=1)
    reach = Reach([{"legacy": run, "adk": no_run}], [SOURCE, OTHER])

    assert reach.runs(at(7)) == [(0, "legacy")]


def test_a_constant_made_of_another_is_reached_where_that_is_named() -> None:
    source = module("A = 1\nB = A\n\n\ndef go(x):\n    return B\n")
    run = RunFacts(digest="x", lines={source.file: 1 << 6}, seconds=1)

    assert Reach([{"legacy": run, "adk": run}], [source]).runs(at(1, source)) != []


def test_cases_that_do_much_of_the_module_for_little_come_first() -> None:
    reach = Reach(
        [
            facts(legacy=[2], seconds=0.1),
            facts(legacy=[2, 3, 4], seconds=9),
            facts(legacy=[2, 3], seconds=0.1),
        ],
        [SOURCE],
    )

    assert [number for number, _ in reach.ordered(at(2), FoundBefore())] == [2, 0, 1]


def test_cases_that_execute_other_lines_of_the_module_come_before_similar_ones() -> None:
    reach = Reach(
        [
            facts(legacy=[2, 3, 4], seconds=0.1),
            facts(legacy=[2, 3, 4], seconds=0.2),
            facts(legacy=[2], seconds=9),
        ],
        [SOURCE],
    )

    assert [number for number, _ in reach.ordered(at(2), FoundBefore())] == [0, 2, 1]


def test_cases_that_found_mutants_nearby_come_before_others() -> None:
    reach = Reach([facts(legacy=[2]), facts(legacy=[2]), facts(legacy=[2])], [SOURCE])
    before = FoundBefore()
    finding = Finding(case="x", runtime="legacy", by=Outcome.FOUND)
    before.add(at(7), finding, 2)
    before.add(at(7), finding, 2)
    before.add(at(3), finding, 1)

    assert [number for number, _ in reach.ordered(at(2), before)] == [1, 2, 0]


def test_cases_that_name_a_member_come_before_those_that_use_the_enum_as_a_whole() -> None:
    text = "class Kind(Enum):\n    RARE = 1\n    OTHER = 2\n\n\n"
    text += "def go(x):\n    Kind(x)\n    if x:\n        return Kind.RARE\n"
    source = module(text, "services.kinds")

    def run(seconds: float, *lines: int) -> Mapping[str, RunFacts]:
        reached = {source.file: sum(1 << line for line in lines)}
        none = RunFacts(digest="x", lines={}, seconds=seconds)
        return {"legacy": RunFacts(digest="x", lines=reached, seconds=seconds), "adk": none}

    reach = Reach([run(0.1, 7, 8), run(0.2, 7, 8), run(9, 7, 8, 9)], [source])

    assert [number for number, _ in reach.ordered(at(2, source), FoundBefore())] == [2, 0, 1]


def test_every_second_case_is_the_next_that_speaks_of_the_statement() -> None:
    each = facts(legacy=[2])
    words = [words_of(each) for each in ("lorem", "ipsum", "dolor", "they go")]
    reach = Reach([each, each, each, each], [SOURCE], words=words)

    assert [number for number, _ in reach.ordered(at(2), FoundBefore())] == [0, 3, 1, 2]


def test_legacy_runs_first_where_a_case_speaks_of_the_statement() -> None:
    both = facts(legacy=[2], adk=[2])
    words = [words_of("lorem"), words_of("they go")]
    reach = Reach([both, both], [SOURCE], words=words)

    runs = [(0, "legacy"), (1, "legacy"), (0, "adk"), (1, "adk")]
    assert reach.ordered(at(2), FoundBefore()) == runs


def equivalent(mutant: Mutant) -> Equivalents:
    record = Equivalent(
        fingerprint=mutant.fingerprint,
        place="here",
        change="this",
        reason="nothing that anybody can see",
        reader="B",
    )
    return Equivalents({mutant.fingerprint: record})


def test_a_sample_is_drawn_until_so_many_are_reached_and_not_equivalent() -> None:
    reach = Reach([facts(legacy=[2, 3])], [SOURCE])
    mutants = [at(4), at(2), at(7), at(3), at(2)]

    rows = draw(mutants, 1, reach, equivalent(at(2)))

    outcomes = [row.measured and row.measured.outcome for row in rows]
    assert outcomes == [Outcome.UNREACHED, Outcome.EQUIVALENT, Outcome.UNREACHED, None]
    assert waiting(rows) == [at(3)]


def sample() -> Sample:
    reach = Reach([facts(legacy=[2, 3, 4])], [SOURCE])
    rows = draw([at(2), at(3), at(4), at(7)], 9, reach, Equivalents())
    outcomes = [Outcome.FOUND, Outcome.CRASH, Outcome.SURVIVED]
    for row, outcome in zip(rows, outcomes, strict=False):
        row.measured = Measured(fingerprint=row.mutant.fingerprint, outcome=outcome, runs=4)
    return Sample(rows=rows, conditions={"seed": 5})


def test_shares_count_what_is_reached_and_not_equivalent() -> None:
    whole = sample().whole

    assert (whole.found, whole.tried, whole.crashes, whole.time_limits) == (2, 3, 1, 0)
    assert round(whole.share, 3) == 0.667
    assert round(whole.bound, 3) == 0.135  # the beta quantile B(0.05; 2, 2)


def test_nothing_tried_has_the_bound_0() -> None:
    assert Tally.of("x", []).bound == 0
    assert Tally.of("x", []).share == 0


def test_survivors_are_clustered_by_function_with_their_diffs() -> None:
    document = sample().to_json({FILE: SOURCE})

    assert document["unreached"] == 1
    assert [(each["about"], each["found"], each["tried"]) for each in document["rooms"]] == [
        ("services/chat", 2, 3)
    ]
    survived = [each for each in document["sample"] if each["outcome"] == "survived"]
    assert len(survived) == 1
    assert "-    c(x)" in survived[0]["diff"]
    (cluster,) = sample().clusters
    assert (cluster.room, cluster.function) == ("services/chat", "go")


def test_the_report_shows_the_map_and_the_counts() -> None:
    stream = io.StringIO()

    show(sample(), {FILE: SOURCE}, stream)

    text = stream.getvalue()
    assert "survivors in services/chat" in text
    assert f"{FILE} go" in text
    assert "-    c(x)" in text
    assert "2 of 3 mutants found (66.7%; at least 13.5% with 95 % confidence)" in text
    assert "1 unreached" in text


def test_an_interrupted_sample_says_what_is_missing() -> None:
    interrupted = sample()
    interrupted.rows[0].measured = None
    interrupted.interrupted = True
    stream = io.StringIO()

    show(interrupted, {FILE: SOURCE}, stream)

    text = " ".join(stream.getvalue().split())
    assert "interrupted: 1 not run" in text
    assert "1 of 3 mutants found" in text


def test_a_survivor_whose_cases_could_not_show_it_says_so_once() -> None:
    drawn = sample()
    (survivor,) = drawn.survivors
    assert survivor.measured is not None
    survivor.measured = replace(survivor.measured, left_out=("tools/a: it differs",) * 2)
    stream = io.StringIO()

    show(drawn, {FILE: SOURCE}, stream)

    assert stream.getvalue().count("shows less than it should: tools/a: it differs") == 1
