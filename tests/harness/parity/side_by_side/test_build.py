from dataclasses import replace
from typing import Any

import pytest

from harness.canonical import sha256_hex
from harness.parity.compare import compare_observations, compare_repeated
from harness.parity.divergence import ABSENT, ChannelName
from harness.parity.side_by_side.build import MOST_ROWS, packed_timelines
from harness.replay.observation import Observation
from harness.timeline.model import Moment, MomentKind, Row, Timelines, pack, unpack
from services.state import RetryAttempt
from tests.harness.samples import TIME, Facts, model, observation, user

LATE = RetryAttempt(attempt=1, max_attempts=3, delay_ms=5000, error="busy", model="m")


def built(control: Observation, candidate: Observation) -> Timelines:
    found = compare_observations(control, candidate)
    return unpack(packed_timelines(control, candidate, found.divergences, found.aligned))


def with_events(seen: Observation, *more: dict[str, Any], at: int = 99) -> Observation:
    events = list(seen.events)
    events[at:at] = more
    return replace(seen, events=events)


def said(number: int) -> dict[str, Any]:
    return {
        "type": "message",
        "id": f"e-{number}",
        "streamId": "s-1",
        "timestamp": TIME,
        "role": "agent",
        "content": [{"type": "text", "text": f"piece {number}"}],
    }


def lines(rows: tuple[Row, ...], side: str = "control") -> list[str]:
    moments = (getattr(row, side) for row in rows)
    return [moment.line for moment in moments if moment is not None]


def test_rows_come_in_the_order_in_which_things_happened() -> None:
    order = [("requests", 1, 1), ("requests", 0, 1), ("tool_states", 0, 2)]
    seen = replace(observation("legacy"), order=order)

    rows = built(seen, with_events(seen, said(1))).rows

    shown = [(row.kind, row.control.index) for row in rows[:5] if row.control is not None]
    assert shown == [
        (MomentKind.EVENT, 0),
        (MomentKind.REQUEST, 1),
        (MomentKind.REQUEST, 0),
        (MomentKind.EVENT, 1),
        (MomentKind.TOOL, 0),
    ]


def test_each_moment_has_its_time() -> None:
    here = replace(observation("legacy"), times={("events", 0): 0, ("events", 1): 1500})
    there = replace(observation("adk"), times={("events", 0): 0, ("events", 1): 2500})

    rows = built(here, there).rows
    shown = [row for row in rows if row.kind is MomentKind.EVENT][:2]

    assert [(row.control.at_ms, row.candidate.at_ms) for row in shown if row.control] == [
        (0, 0),
        (1500, 2500),
    ]
    assert {row.control.at_ms for row in rows if row.kind is MomentKind.MEMORY} == {None}
    assert unpack(pack(built(here, there))) == built(here, there)


def test_timelines_of_earlier_builds_are_read_without_times() -> None:
    old = {"rows": [["event", [0, "emitted x", None], None, []]], "first": None, "leftOut": 0}

    (row,) = Timelines.from_json(old).rows

    assert row.control == Moment(index=0, line="emitted x")
    for wrong in ([0, "x", None, "soon"], [0, "x", None, -1], [0, "x", None, 1, 2]):
        with pytest.raises((TypeError, ValueError)):
            Timelines.from_json({**old, "rows": [["event", wrong, None, []]]})


def test_without_a_recorded_order_requests_stand_before_their_answers() -> None:
    seen = observation("legacy")

    rows = built(seen, with_events(seen, said(1))).rows

    asked = [number for number, row in enumerate(rows) if row.kind is MomentKind.REQUEST]
    requested = next(n for n, line in enumerate(lines(rows)) if "tool_request" in line)
    answered = next(n for n, line in enumerate(lines(rows)) if "tool_response" in line)
    assert asked[0] < requested < answered < asked[1]


def test_only_differing_items_have_fields() -> None:
    seen = observation("legacy")
    events = [dict(event) for event in seen.events]
    events[-1]["reason"] = "failed"

    made = built(seen, replace(seen, events=events))

    differing = [row for row in made.rows if row.divergences]
    (row,) = differing
    assert row.control is not None
    assert row.candidate is not None
    assert (row.control.fields or {})["reason"] == "completed"
    assert (row.candidate.fields or {})["reason"] == "failed"
    assert all(row.control is None or row.control.fields is None for row in made.rows[:3])
    assert made.rows[made.first or 0] is row


def test_an_item_of_one_side_stands_beside_nothing() -> None:
    seen = observation("legacy")

    made = built(seen, with_events(seen, said(1), at=3))

    (row,) = (row for row in made.rows if row.divergences)
    assert row.control is None
    assert row.candidate is not None
    assert row.candidate.line == "emitted message of the model: text 'piece 1'"
    assert row.kind is MomentKind.ANSWER


def test_a_path_leads_to_its_value_in_the_fields_of_a_question() -> None:
    here, there = observation("legacy"), observation("adk")
    changed = replace(there.requests[1], new_contents=(model("x"), user("other")), digest="x")
    there = replace(there, requests=[there.requests[0], changed])

    found = compare_observations(here, there)
    made = unpack(packed_timelines(here, there, found.divergences, found.aligned))

    (row,) = (row for row in made.rows if row.kind is MomentKind.REQUEST and row.divergences)
    assert row.candidate is not None
    contents = (row.candidate.fields or {})["contents"]
    first = found.divergences[row.divergences[0]]
    assert first.path.startswith("contents[1]")
    assert contents[0] == "…"
    assert contents[1]["parts"][0]["text"] == "x"


def test_timelines_never_contain_the_runs_own_folders() -> None:
    seen = observation("legacy", base="/tmp/run-with-a-long-name")
    event = said(1)
    event["content"][0]["text"] = "x" * 60 + " /tmp/run-with-a-long-name/ws/a.txt"

    made = built(seen, with_events(seen, event, at=3))

    assert "run-with" not in str(made.to_json())


def test_secrets_are_taken_out_before_anything_is_packed() -> None:
    key = "AIza" + "SyD" * 11 + "ab"
    seen = observation("legacy")
    event = said(1)
    event["content"][0]["text"] = f"the key is {key}, keep it"

    made = built(seen, with_events(seen, event, at=3))

    assert "the key is" in str(made.to_json())
    assert key[8:] not in str(made.to_json())


def test_a_secret_in_pieces_is_found() -> None:
    key = "AIza" + "SyD" * 11 + "ab"
    seen = observation("legacy")
    pieces = [said(number) for number in range(2)]
    pieces[0]["content"][0]["text"], pieces[1]["content"][0]["text"] = key[:2], key[2:]

    made = built(seen, with_events(seen, *pieces, at=3))

    assert key[8:] not in str(made.to_json())


def test_a_long_run_drops_equal_rows_far_from_differences() -> None:
    seen = with_events(observation("legacy"), *map(said, range(2 * MOST_ROWS)), at=3)
    events = [dict(event) for event in seen.events]
    events[MOST_ROWS]["role"] = "user"

    made = built(seen, replace(seen, events=events))

    assert len(made.rows) == MOST_ROWS
    assert made.left_out > MOST_ROWS
    assert any(row.divergences for row in made.rows)


def test_packed_timelines_fit_into_a_journal_line() -> None:
    seen = observation("legacy")
    many = [said(number) for number in range(1000)]
    for number, event in enumerate(many):
        digests = [sha256_hex(f"{number} {piece}") for piece in range(100)]
        texts = ("".join(digests[at : at + 10]) for at in range(0, 100, 10))
        event["content"] = [{"type": "text", "text": text} for text in texts]
    other = with_events(seen, *many, at=3)
    found = compare_observations(seen, other)

    packed = packed_timelines(seen, other, found.divergences, found.aligned)

    assert 0 < len(packed) <= 64 * 1024
    assert unpack(packed).rows


def test_the_earliest_of_both_sides_own_orders_comes_first_among_the_causes() -> None:
    here = replace(observation("legacy"), order=[("requests", 0, 1), ("requests", 1, 2)])
    there = replace(
        observation("adk"),
        requests=here.requests[:1],
        retries=[LATE, *here.retries],
        order=[("requests", 0, 1), ("retries", 0, 1)],
    )
    found = compare_observations(here, there)

    made = unpack(packed_timelines(here, there, found.divergences, found.aligned))

    assert found.divergences[0].channel is ChannelName.REQUESTS
    assert {found.divergences[index].channel for index in made.causes} >= {
        ChannelName.REQUESTS,
        ChannelName.RETRIES,
    }


def test_a_case_with_a_divergence_has_timelines_and_one_without_has_none() -> None:
    seen = observation("legacy")

    same = compare_repeated([seen], [observation("adk")], Facts())
    other = compare_repeated([seen], [with_events(seen, said(1))], Facts())

    assert same.timelines == ""
    assert unpack(other.timelines).first is not None


def test_a_note_of_the_replay_has_a_row_of_its_own() -> None:
    seen = observation("legacy")

    made = built(seen, replace(seen, notes=["no step answers request 3"]))

    (row,) = (row for row in made.rows if row.kind is MomentKind.NOTE)
    assert row.control is None
    assert row.candidate is not None
    assert "no step answers request 3" in row.candidate.line
    assert ABSENT not in row.candidate.line
