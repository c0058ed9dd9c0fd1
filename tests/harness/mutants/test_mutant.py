import random
import re
from collections import Counter
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.mutants.mutant import Mutant, mutants_at
from harness.mutants.places import places_of
from harness.mutants.population import ROOMS, Population, drawn, every_source, plays
from harness.mutants.source import CODE_ROOT
from tests.harness.mutants.samples import module, mutants_of

TEXT = """
    def first(x):
        return x + 1

    def second(x, y):
        if x > 1 and y > 1:
            x.go(1)
        return x
"""


def fingerprints(text: str) -> dict[tuple[str, str, str], str]:
    source = module(text)
    return {
        (
            mutant.place.qualname,
            mutant.operator,
            mutant.diff(source, context=0).split("@@")[-1],
        ): mutant.fingerprint
        for mutant in mutants_of(source)
    }


def test_every_mutant_has_a_fingerprint_of_its_own() -> None:
    found = [mutant.fingerprint for mutant in mutants_of(module(TEXT))]

    assert len(set(found)) == len(found)


def test_a_fingerprint_survives_edits_elsewhere_in_the_file() -> None:
    before = fingerprints(TEXT)

    edited = TEXT.replace("return x + 1", "y = x * 2\n        return y - 7")
    edited = f"\n    '''New.'''\n    LIMIT = 5\n{edited}"
    after = fingerprints(edited)

    of_second = {key: value for key, value in before.items() if key[0] == "second"}
    assert of_second.items() <= after.items()
    assert not {key for key in before if key[0] == "first"} & set(after)


def test_a_fingerprint_survives_another_form_of_the_statement() -> None:
    other = TEXT.replace(
        "if x > 1 and y > 1:", "if (\n            x > 1 and\n            y > 1\n        ):"
    )

    assert set(fingerprints(TEXT).values()) == set(fingerprints(other).values())


def test_a_fingerprint_changes_with_its_statement() -> None:
    other = TEXT.replace("x.go(1)", "x.go(2)")

    gone = set(fingerprints(TEXT).values()) - set(fingerprints(other).values())
    assert len(gone) == 3  # one more, one less, and the whole statement dropped


def test_the_diff_shows_the_change_alone() -> None:
    source = module("def go(x):\n    a(x)\n    return x < 1\n")
    (mutant,) = (each for each in mutants_of(source) if "<=" in each.text(source))

    assert mutant.diff(source).splitlines() == [
        "--- a/services/sample.py",
        "+++ b/services/sample.py",
        "@@ -1,3 +1,3 @@",
        " def go(x):",
        "     a(x)",
        "-    return x < 1",
        "+    return (x <= 1)",
    ]


def test_equal_seeds_draw_equal_mutants_and_each_place_once() -> None:
    source = module(TEXT)
    places = list(mutants_at(source, places_of(source)))

    orders = [
        [mutant.fingerprint for mutant in drawn(places, random.Random(seed))] for seed in (1, 1, 2)
    ]

    assert orders[0] == orders[1] != orders[2]
    drawn_places = [id(mutant.place) for mutant in drawn(places, random.Random(3))]
    assert len(drawn_places) == len(set(drawn_places)) == len(places)


def first_drawn(text: str, draws: int) -> Counter[str]:
    source = module(text)
    places = list(mutants_at(source, places_of(source)))
    rng = random.Random(7)
    return Counter(next(drawn(places, rng)).place.statement for _ in range(draws))


def test_a_place_is_as_likely_as_another_however_many_mutants_it_has() -> None:
    # Two calls, the condition, the last statement, and the constant in it: five places.
    counts = first_drawn("def go(x):\n    a(x)\n    b(x)\n    if x:\n        x = 5\n", 4000)

    assert counts.keys() == {"a(x)", "b(x)", "if x", "x = 5"}
    assert all(abs(counts[name] - 800) < 120 for name in ("a(x)", "b(x)", "if x"))
    assert abs(counts["x = 5"] - 1600) < 150


def test_places_of_changed_files_come_earlier() -> None:
    one, other = (
        module("def go(x):\n    a(x)\n", "services.one"),
        module("def go(x):\n    a(x)\n", "services.other"),
    )
    places = [each for source in (one, other) for each in mutants_at(source, places_of(source))]
    rng = random.Random(5)

    first = Counter(next(drawn(places, rng, {"services/other.py"})).place.file for _ in range(2000))

    assert 0.84 < first["services/other.py"] / 2000 < 0.94  # 8 of 9


def rooms(parts: tuple[str, ...]) -> set[str]:
    return {mutant.room for mutant in Population.of(CODE_ROOT, parts).mutants}


def test_the_population_has_both_runtimes_and_the_services_without_the_catalogue_of_faults() -> (
    None
):
    files = {source.file for source in Population.of(CODE_ROOT, ()).sources}

    assert {file.split("/")[0] for file in files} == {"runtimes", "services"}
    assert {"/".join(file.split("/")[:2]) for file in files if file.startswith("runtimes")} == set(
        ROOMS["runtimes"]
    )
    assert not [file for file in files if "/faults/" in file]


def test_what_plays_a_cassette_is_not_mutated_and_no_product_imports_it() -> None:
    files = {source.file for source in Population.of(CODE_ROOT, ()).sources}
    played = "services/model/replay/"

    assert {file for file in files if file.startswith(played)} == {
        f"{played}__init__.py",
        f"{played}responses.py",
    }
    assert not any(file.startswith("services/providers/wire/") for file in files)
    importing = re.compile(
        r"from services\.(model\.replay\.(generator|matching|steps)"
        r"|providers\.(\w+\.)?(wire|dialect)\b)"
    )
    product = (
        each
        for each in every_source(CODE_ROOT)
        if not each.file.startswith(("harness/", "services/model/replay/")) and not plays(each.file)
    )
    assert [each.file for each in product if importing.search(each.text)] == []


def test_a_part_can_be_a_folder_or_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    assert rooms(("services/policy",)) == {"services/policy"}
    assert rooms(("runtimes/legacy/turn.py",)) == {"runtimes/legacy"}
    monkeypatch.chdir(CODE_ROOT / "services")
    assert rooms((str(Path("policy")),)) == {"services/policy"}


@pytest.mark.parametrize("part", ["harness", "services/faults/no.py", "/", "nowhere"])
def test_what_is_not_mutated_is_refused(part: str) -> None:
    with pytest.raises(UsageError, match="nothing to mutate"):
        Population.of(CODE_ROOT, [part])


def test_a_mutant_is_named_by_file_line_and_function() -> None:
    mutants: list[Mutant] = list(mutants_of(module("def go(x):\n    return x < 1\n")))

    assert {mutant.where for mutant in mutants} == {"services/sample.py:2 go"}
    assert {mutant.room for mutant in mutants} == {"services"}
