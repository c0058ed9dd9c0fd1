from collections.abc import Callable, Iterator
from itertools import count, cycle
from typing import Any

import pytest

from harness.scenarios.shrinking import FindingLost, Progress, Shrunk, shrink, size_of
from harness.scenarios.shrinking.sizes import content_digest
from harness.scenarios.trial import Trial
from tests.harness.scenarios.shrinking.descending import FINGERPRINT, Document, cassette, trial

BIG = cassette(
    files={"a.txt": "alpha\n"},
    script=[{"send": "one"}, {"compress": True}, {"send": "two"}],
    model=[{"text": f"answer {number}"} for number in range(9)],
)
SMALL = cassette(script=[{"compress": True}], model=[{"text": "answer 4"}])


def shows(document: Document) -> bool:
    return {"compress": True} in document["script"] and {"text": "answer 4"} in document["model"]


def steady(document: Document) -> Trial | None:
    if not document["script"] or not document["model"]:
        return None
    return trial(document, shows=shows(document))


def run(
    judge: Callable[[Document], Trial | None] = steady, document: Document = BIG, **options: Any
) -> Shrunk:
    values: dict[str, Any] = {"enough": lambda: False, **options}
    return shrink(document, judge, fingerprint=FINGERPRINT, **values)


def test_shrinking_keeps_only_what_the_finding_needs() -> None:
    shrunk = run()

    assert shrunk.document == SMALL
    assert shrunk.finished
    assert not shrunk.flaky
    assert shrunk.trial.fingerprint == FINGERPRINT


def test_the_same_cassette_is_shrunk_by_the_same_tries() -> None:
    def digests() -> list[str]:
        seen: list[str] = []

        def judge(document: Document) -> Trial | None:
            seen.append(content_digest(document))
            return steady(document)

        run(judge)
        return seen

    assert digests() == digests()


def test_no_scenario_is_tried_twice_but_to_make_sure_of_what_was_kept() -> None:
    seen: list[str] = []

    def judge(document: Document) -> Trial | None:
        seen.append(content_digest(document))
        return steady(document)

    shrunk = run(judge)

    refused = [digest for digest in seen if seen.count(digest) == 1]
    assert len(seen) - len(refused) <= 2 * (shrunk.steps + 1)
    assert max(map(seen.count, seen)) == 2


def test_a_cassette_that_is_as_small_as_it_gets_stays() -> None:
    shrunk = run(document=SMALL)

    assert shrunk.document == SMALL
    assert (shrunk.steps, shrunk.finished) == (0, True)
    assert shrunk.tries > 0


def test_a_document_with_another_finding_is_refused() -> None:
    with pytest.raises(FindingLost, match="shows parity, not"):
        run(lambda document: trial(document, shows=False))


def test_what_is_no_cassette_cannot_be_shrunk() -> None:
    with pytest.raises(FindingLost, match="is no cassette"):
        run(lambda document: None)


@pytest.mark.parametrize(
    "misses", [{"provider_errors": frozenset({"call-unanswered"})}, {"misses": 1}]
)
def test_shrinking_adds_no_provider_error_and_no_miss(misses: dict[str, Any]) -> None:
    def judge(document: Document) -> Trial | None:
        worse = {} if {"send": "one"} in document["script"] else misses
        return trial(document, shows=shows(document), **worse)

    shrunk = run(judge)

    assert shrunk.document["script"] == [{"send": "one"}, {"compress": True}]
    assert shrunk.trial.provider_errors == frozenset()
    assert shrunk.trial.misses == 0


def test_provider_errors_of_the_start_do_not_stop_shrinking() -> None:
    def judge(document: Document) -> Trial | None:
        facts = {"provider_errors": frozenset({"call-unanswered"}), "misses": 1}
        return trial(document, shows=shows(document), **facts)

    assert run(judge).document == SMALL


def test_steps_that_were_left_over_go_first() -> None:
    tried: list[Document] = []

    def judge(document: Document) -> Trial | None:
        tried.append(document)
        seen = trial(document, shows=shows(document))
        seen.document["unused"] = list(range(5, len(document["model"])))
        return seen

    run(judge)

    assert [len(document["model"]) for document in tried[:2]] == [9, 5]


def test_steps_that_are_left_over_at_the_end_are_declared() -> None:
    def judge(document: Document) -> Trial | None:
        seen = trial(document, shows=shows(document) and len(document["model"]) == 9)
        seen.document["unused"] = [7, 8]
        return seen

    assert run(judge).document["unused"] == [7, 8]


class Coming:
    """Shows the finding in only some of the runs of a scenario."""

    def __init__(self, answers: Iterator[bool]) -> None:
        self._answers = answers
        self.shown: list[str] = []

    def __call__(self, document: Document) -> Trial | None:
        seen = shows(document) and next(self._answers)
        if seen:
            self.shown.append(content_digest(document))
        return trial(document, shows=seen)


@pytest.mark.parametrize("rhythm", [(1, 0), (1, 1, 0), (0, 1), (1, 0, 0), (1, 1, 1, 1, 1, 0)])
def test_a_finding_that_comes_and_goes_ends_with_what_showed_it_twice(
    rhythm: tuple[int, ...],
) -> None:
    judge = Coming(map(bool, cycle(rhythm)))

    shrunk = run(judge)

    assert shrunk.flaky
    assert shows(shrunk.document)
    twice = judge.shown.count(content_digest(shrunk.document)) >= 2
    assert twice or shrunk.document == BIG


def test_a_finding_that_was_seen_once_and_never_again_ends_with_the_start() -> None:
    shrunk = run(Coming(number < 6 for number in count()))

    assert shrunk.flaky
    assert shows(shrunk.document)


@pytest.mark.parametrize("tries", range(1, 12))
def test_when_the_time_is_up_the_smallest_so_far_can_be_shrunk_further(tries: int) -> None:
    calls = iter(range(1000))
    seen: list[Progress] = []
    stopped = run(enough=lambda: next(calls) >= tries, on_progress=seen.append)

    assert not stopped.finished
    assert stopped.tries == tries
    assert size_of(stopped.document) == min(
        (each.size for each in seen), key=lambda size: size.bytes
    )
    assert run(document=stopped.document).document == SMALL


def test_without_time_the_start_is_the_result() -> None:
    shrunk = run(enough=lambda: True)

    assert shrunk.document == BIG
    assert (shrunk.tries, shrunk.steps, shrunk.finished) == (0, 0, False)


def test_refused_scenarios_are_not_tried_again() -> None:
    tried: set[str] = set()
    first = run(tried=tried)
    again = run(document=first.document, tried=tried)

    assert len(tried) == first.tries - first.steps
    assert (again.tries, again.finished) == (0, True)


def test_progress_is_reported_after_each_try_with_the_best_scenario() -> None:
    seen: list[Progress] = []

    shrunk = run(on_progress=seen.append)

    assert [progress.tries for progress in seen] == list(range(shrunk.tries + 1))
    assert seen[0].size.turns == 9
    assert seen[-1].size.turns == 1
    assert seen[-1].best.fingerprint == FINGERPRINT
    assert {"answers", "whole keys"} <= {progress.stage for progress in seen}


def test_an_interruption_is_raised_after_the_best_was_reported() -> None:
    seen: list[Progress] = []

    def stop_at_nine(progress: Progress) -> None:
        seen.append(progress)
        if progress.tries == 9:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(on_progress=stop_at_nine)

    best = seen[-1].best.document
    assert shows(best)
    assert len(repr(best)) < len(repr(BIG))
