from pathlib import Path

import pytest

from harness import config
from harness.errors import UsageError
from harness.gate.gates import load_gates
from tests.harness.samples import write_corpus

REPOSITORY = Path(__file__).parents[2].resolve()


def test_the_corpus_here_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_corpus(tmp_path / "cassettes", a__1="x")
    monkeypatch.chdir(tmp_path)

    assert config.default_corpus() == Path("cassettes")


def test_elsewhere_it_is_the_checkouts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    assert config.default_corpus() == REPOSITORY / "cassettes"
    assert config.default_waivers() == REPOSITORY / "parity_tests" / "waivers.toml"


def test_what_runs_without_paths_is_all_that_the_gates_ask_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(REPOSITORY)

    gates = load_gates(REPOSITORY / "parity_tests" / "gates.toml")

    assert [str(folder) for folder in config.default_corpora()] == list(gates.corpus)


def test_a_folder_of_http_without_recorded_traffic_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_corpus(tmp_path / "cassettes", a__1="x")
    (tmp_path / "cassettes" / "http").mkdir()
    (tmp_path / "cassettes" / "http" / "README.md").write_text("nothing was recorded yet")
    monkeypatch.chdir(tmp_path)

    assert config.default_corpora() == (Path("cassettes"),)


def test_without_any_corpus_it_is_wrong_usage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(config, "_HERE", tmp_path / "site-packages" / "harness")

    with pytest.raises(UsageError, match="name files or folders"):
        config.default_corpus()
    assert config.default_waivers() is None


def test_a_corpus_that_happens_to_be_here_is_not_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_corpus(tmp_path / "cassettes", a__1="x")
    monkeypatch.chdir(tmp_path)

    roots = config.trusted_roots()

    assert REPOSITORY / "cassettes" in roots
    assert not any((tmp_path / "cassettes").is_relative_to(root) for root in roots)


def test_versions_name_our_code_by_digest() -> None:
    assert len(config.versions()["code"]) == 12
    assert config.versions() == config.versions()


def test_baselines_of_the_core_are_looked_for_here_then_bundled_then_in_the_checkout() -> None:
    own = Path("baselines", "upstream")

    assert config.core_baselines() == (own, REPOSITORY / "harness" / own, REPOSITORY / own)


def test_waivers_gates_and_contract_of_the_suite_here_come_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "parity_tests").mkdir()
    names = ("waivers.toml", "gates.toml", "contract.md")
    for name in names:
        (tmp_path / "parity_tests" / name).write_text("")
    monkeypatch.chdir(tmp_path)

    here = [config.default_waivers(), config.default_gates(), config.default_contract()]

    assert here == [Path("parity_tests", name) for name in names]


def test_an_installed_build_has_its_contract_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "site-packages" / "harness"
    installed.mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(config, "_HERE", installed)

    assert config.default_contract() is None
    (installed / "contract.md").write_text("")
    assert config.default_contract() == installed / "contract.md"


def test_the_inventory_has_what_a_verdict_rests_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = write_corpus(tmp_path / "in", a__1="x")
    monkeypatch.chdir(tmp_path)
    kept = tmp_path / "baselines" / "upstream" / "a" / "1.json"
    kept.parent.mkdir(parents=True)
    kept.write_text("{}")

    found = config.current_inventory([("a/1", corpus / "a" / "1.yaml")], None).components

    assert list(found["corpus"].files) == ["a/1"]
    assert list(found["baselines"].files) == ["a/1.json"]
    assert found["waivers"].digest == ""
    assert "click" in found["distributions"].files
    assert "services/wire.py" in found["services"].files


def test_a_baseline_from_elsewhere_counts_where_it_says_something_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = write_corpus(tmp_path / "cassettes", a__1="x") / "a" / "1.yaml"
    for folder, text in (("baselines/upstream", "seen"), ("same", "seen"), ("other", "made up")):
        (tmp_path / folder / "a").mkdir(parents=True)
        (tmp_path / folder / "a" / "1.json").write_text(text)

    plain, same, other = (
        config.current_inventory([("a/1", file)], None, sides)
        for sides in (["legacy"], ["baseline:same"], ["baseline:other", "legacy"])
    )

    assert plain.differences(same) == []
    assert plain.differences(other) == ["baselines: a/1.json (2) new"]
