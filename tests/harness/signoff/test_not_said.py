from typing import Any

from harness.cassette.format import Cassette
from harness.gate.answer import ClassAnswer, GateAnswer, Leg, Sample, WaiverAnswer
from harness.signoff.not_said import CorpusFacts, not_said
from services.model.names import DEFAULT_PRO, PREVIEW_PRO
from tests.harness.samples import Facts

MACHINE = {"python": "CPython 3.11.7", "platform": "Linux x86_64", "core": "0.61.0"}
CORPUS = CorpusFacts(cases=3, models={DEFAULT_PRO: 3})


def leg(name: str, control: str, candidate: str, **changes: Any) -> Leg:
    values: dict[str, Any] = {
        "name": name,
        "control": control,
        "candidate": candidate,
        "cases": 3,
        "parity": 3,
        "divergent": 0,
        "inconclusive": 0,
        "waived": 0,
        "corpus": "",
        "as_of": "2026-01-01",
        "started_at": "",
        "revision": "",
        "dirty": False,
        "digest": "e" * 64,
        "components": {},
        "environment": MACHINE,
    }
    return Leg(**{**values, **changes})


def sentences(
    corpus: CorpusFacts = CORPUS, classes: tuple[str, ...] = (), **answer: Any
) -> tuple[str, ...]:
    asked = {"phase": "A", "profile": "release", "as_of": "2026-06-01", "phases": {}, **answer}
    phases = asked.pop("phases")
    found = GateAnswer.of((), **asked)
    digest = "b" * 64
    return not_said(found, corpus, MACHINE, classes, digest, recordings_days=90, phases=phases)


def sentence(words: str, *args: Any, **kwargs: Any) -> str:
    return next(each for each in sentences(*args, **kwargs) if words in each)


def test_models_that_no_cassette_asked_for_are_named() -> None:
    said = sentence("Answers were replayed")

    assert f"as those of {DEFAULT_PRO};" in said
    assert PREVIEW_PRO in said.split("among them")[1]
    assert DEFAULT_PRO not in said.split("among them")[1]


def test_only_the_systems_of_the_legs_are_said() -> None:
    other = {**MACHINE, "platform": "Darwin arm64"}
    said = sentence("It was run on", legs=(leg("l", "legacy", "adk", environment=other),))

    assert "Darwin arm64 with CPython 3.11.7, Linux x86_64 with CPython 3.11.7" in said


def test_classes_and_behaviours_that_were_not_reached_are_named() -> None:
    reached = ClassAnswer(
        name="tools", declared=1, cases=1, behaviours=2, reached=1, never=("P-002",)
    )

    assert "no case reached in both: hooks." in sentence(
        "Classes of behaviour", classes=("tools", "hooks"), coverage=(reached,)
    )
    assert "not reached in both: P-002." in sentence("Behaviours", coverage=(reached,))
    assert not any("Classes of behaviour" in each for each in sentences(coverage=(reached,)))


def test_the_other_phases_are_named() -> None:
    assert "phases B (local subagents), C (interactive)" in sentence("Nothing is said of the")


def test_the_phases_of_a_project_are_named_by_its_gates() -> None:
    phases = {"read-only": "questions", "orders": "orders"}

    said = sentence("Nothing is said of the", phase="orders", phases=phases)

    assert said == "Nothing is said of the phases read-only (questions)."
    alone = sentences(phase="orders", phases={"orders": "orders"})
    assert not any("Nothing is said of the phases" in each for each in alone)


def test_nothing_is_said_of_a_reproduction_where_legacy_is_no_side() -> None:
    found = sentences(legs=(leg("l", "hand", "stock"),))

    assert not any("reproduction" in each for each in found)


def test_a_bound_is_of_its_profile_and_no_other() -> None:
    sample = Sample(
        profile="fallback",
        profile_digest="d",
        seeds=(1,),
        examples=12_000,
        control="legacy",
        candidate="adk",
        findings=0,
        rate=0.0,
        says="",
    )

    assert "fallback of 12,000 examples" in sentence("Generated", samples=(sample,))
    assert sentence("no bound")


def test_waivers_that_cover_something_are_differences_that_remain() -> None:
    def waiver(id: str, count: int) -> WaiverAnswer:
        return WaiverAnswer(
            id=id, state="used", count=count, max_count=9, expires="2099-12-31", owner="o"
        )

    said = sentence("do differ", waivers=(waiver("W1", 2), waiver("W2", 0)))

    assert said == "Where these waivers apply the runtimes do differ: W1."


def test_the_age_of_recordings_is_said() -> None:
    corpus = CorpusFacts(cases=5, recorded=("2026-01-01", "2026-05-01"), live=2)

    said = sentence("oldest recording", corpus)

    assert "is of 2026-01-01 and the newest of 2026-05-01, 1 older than 90 days" in said
    assert "3 of 5 cassettes do not say when" in said
    assert "None of 3 cassettes says when it was recorded" in sentence("None of 3")


def test_legacy_is_a_reproduction_by_the_leg_that_shows_it() -> None:
    shown = sentence("reproduction", legs=(leg("upstream ≡ legacy", "upstream", "legacy"),))

    assert "tied to core 0.61.0 by upstream and legacy over 3 cases" in shown
    assert f"(traces {'e' * 16}) and baselines {'b' * 16}" in shown
    assert "is not shown by this" in sentence("reproduction", legs=(leg("l", "legacy", "adk"),))


def test_facts_are_read_from_cassettes(tmp_path: Any) -> None:
    from harness.cassette.load import load_cassette

    file = tmp_path / "x.yaml"
    file.write_text(
        "cassette: 1\nname: x\nphase: A\nprovenance: {kind: recorded, recorded_at: '2026-02-03'}\n"
        f"session: {{model: {DEFAULT_PRO}}}\n"
        f"script:\n- send: hi\n- set_model: {PREVIEW_PRO}\n- send: ho\n"
        "model:\n- text: a\n- text: b\n"
    )
    loaded = load_cassette(file, tmp_path)
    assert isinstance(loaded, Cassette)

    facts = CorpusFacts.of([loaded, Facts()])

    assert facts == CorpusFacts(
        cases=2, models={DEFAULT_PRO: 1, PREVIEW_PRO: 1}, recorded=("2026-02-03",), live=1
    )
