import random

import pytest

from runtimes.published import UpstreamUnavailable, checked_version
from runtimes.published.versions import checked_spec, version_order

ORDERED = [
    "0.9.0",
    "0.10.0-alpha",
    "0.10.0-alpha.1",
    "0.10.0-alpha.beta",
    "0.10.0-beta",
    "0.10.0-beta.2",
    "0.10.0-beta.11",
    "0.10.0-rc.1",
    "0.10.0",
    "0.61.0-nightly.20251001.abc",
    "0.61.0",
    "1.0.0",
]
NO_VERSIONS = [
    "",
    ".",
    "..",
    "../x",
    "../../etc/0.61.0",
    "/etc",
    "0.61.0/../../x",
    "0.61.0-a/b",
    "0.61.0-..",
    "0.61.0\\x",
    "0.61.0\n",
    "0.61.0 ",
    "0.61",
    "v0.61.0",
    "^0.61.0",
    "00.61.0",
    "0.61.0+build",
    "0.61.0-01",
    "\u0660.\u0666\u0661.\u0660",
    "0.61.0-" + "a" * 100,
    "file:x",
    "--global",
    "https://example.com/x.tgz",
    "x",
    "v1",
    "Latest",
]


def test_versions_are_ordered_as_semver_orders_them() -> None:
    shuffled = random.Random(7).sample(ORDERED, len(ORDERED))

    assert sorted(shuffled, key=version_order) == ORDERED


@pytest.mark.parametrize("version", ORDERED)
def test_an_exact_version_passes_as_it_stands(version: str) -> None:
    assert checked_version(version) == checked_spec(version) == version


@pytest.mark.parametrize("text", NO_VERSIONS)
def test_an_invalid_version_is_refused(text: str) -> None:
    with pytest.raises(UpstreamUnavailable, match="is not a version of the published core; give"):
        checked_version(text)
    with pytest.raises(UpstreamUnavailable, match="is neither a version nor a tag of the publi"):
        checked_spec(text)


def test_a_tag_may_be_installed_but_is_no_folder() -> None:
    assert checked_spec("latest") == "latest"
    with pytest.raises(UpstreamUnavailable, match=r"^'latest' is not a version"):
        checked_version("latest")


def test_a_long_text_is_shown_by_its_beginning() -> None:
    with pytest.raises(UpstreamUnavailable) as caught:
        checked_version("y" * 5000)

    assert "yyy…'" in caught.value.problem
    assert len(str(caught.value)) < 300
