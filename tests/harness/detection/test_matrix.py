from harness.detection.finding import Found, FoundBy
from harness.detection.matrix import Conditions, Matrix, Outcome, Row
from harness.detection.measuring import Measured
from seeded_faults import Behaviour, Fault
from seeded_faults.patching import replaced
from tests.harness.detection.stand_ins import TRANSLATE, fault


def named(name: str, **more: object) -> Fault:
    return fault(name, lambda: replaced(TRANSLATE, lambda kept: kept), **more)  # type: ignore[arg-type]


def part(name: str, by: FoundBy | None = None, *, met: int = 1, untouched: int = 0) -> Measured:
    found = None
    if by is not None:
        found = Found(cassette="a/b", kind=by, channel="events", place="p", says="s", met=met)
    return Measured(fault=name, found=found, met=met, untouched=untouched)


def matrix(*rows: Row) -> Matrix:
    conditions = Conditions(
        waivers=1, projection_rules={}, cassettes=2, profile="everything", seed=3
    )
    return Matrix(rows=list(rows), conditions=conditions, planned=len(rows))


def killed(name: str, by: FoundBy = FoundBy.CHANNEL, **more: object) -> Row:
    return Row(fault=named(name, **more), corpus=part(name, by))


def test_a_part_that_was_not_run_says_so_and_one_that_found_nothing_is_null() -> None:
    row = Row(fault=named("a"), corpus=part("a"))

    assert row.to_json()["corpus"] is None
    assert row.to_json()["generated"] == "not run"
    assert row.outcome is Outcome.SURVIVED


def test_the_generated_run_counts_where_the_corpus_found_nothing() -> None:
    row = Row(fault=named("a"), corpus=part("a"), generated=part("a", FoundBy.CRASH))
    whole = matrix(row, killed("b"))
    total = whole.totals()[0]

    assert row.outcome is Outcome.KILLED
    assert (total.observable, total.by_corpus, total.killed, total.crashes) == (2, 1, 2, 1)


def test_the_unobservable_are_not_counted_unless_they_are_found() -> None:
    quiet = Row(fault=named("a", unobservable="no channel shows it"), corpus=part("a"))
    loud = killed("b", unobservable="no channel shows it")

    assert (quiet.outcome, loud.outcome) == (Outcome.UNOBSERVABLE, Outcome.KILLED)
    assert matrix(quiet, loud).totals()[0].observable == 1


def test_it_is_never_reached_only_if_no_run_reached_it() -> None:
    nothing, something = part("a", met=0, untouched=9), part("a", met=1, untouched=9)

    assert Row(fault=named("a"), corpus=nothing).never
    assert Row(fault=named("a"), corpus=nothing, generated=nothing).never
    assert not Row(fault=named("a"), corpus=nothing, generated=something).never
    assert not Row(fault=named("a")).never


def test_what_was_held_out_is_counted_apart_and_classes_too() -> None:
    whole = matrix(
        killed("a"),
        killed("b", held_out=True, behaviour=Behaviour.HOOKS),
        Row(fault=named("c", held_out=True), corpus=part("c")),
    )

    totals = {tally.about: (tally.killed, tally.observable) for tally in whole.totals()}
    classes = {tally.about: (tally.killed, tally.observable) for tally in whole.tallies()}

    assert totals == {"all": (2, 3), "written with the corpus": (1, 1), "held out": (1, 2)}
    assert classes == {"answers": (1, 2), "hooks": (1, 1)}


def test_a_gap_that_a_held_out_fault_showed_still_counts_when_it_is_closed() -> None:
    whole = matrix(
        killed("a", held_out=True, closed_by="tools/written_for_it"),
        killed("b", held_out=True),
    )

    totals = {tally.about: (tally.killed, tally.observable) for tally in whole.totals()}

    assert totals["all"] == (2, 2)
    assert totals["held out"] == (1, 2)
    assert whole.rows[0].to_json()["closedBy"] == "tools/written_for_it"
