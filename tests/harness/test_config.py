from pathlib import Path

import pytest

from harness import config
from harness.errors import UsageError
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


def test_the_corpus_digest_tells_names_and_contents(tmp_path: Path) -> None:
    one, two = tmp_path / "1", tmp_path / "2"
    one.write_text("x")
    two.write_text("y")
    digest = config.corpus_digest([("a", one), ("b", two)])

    assert digest == config.corpus_digest([("b", two), ("a", one)])
    assert digest != config.corpus_digest([("a", one), ("c", two)])
    assert digest != config.corpus_digest([("a", one)])
    one.write_text("z")
    assert digest != config.corpus_digest([("a", one), ("b", two)])
    assert config.corpus_digest([("a", tmp_path / "gone")])


def test_versions_name_our_code_by_digest() -> None:
    assert len(config.versions()["code"]) == 12
    assert config.versions() == config.versions()


def test_baselines_of_the_core_are_looked_for_here_then_bundled_then_in_the_checkout() -> None:
    own = Path("baselines", "upstream")

    assert config.core_baselines() == (own, REPOSITORY / "harness" / own, REPOSITORY / own)
