from pathlib import Path

import pytest

from runtimes.published import UpstreamUnavailable
from runtimes.published.places import cache_folder, version_folder

HOME = Path.home()


@pytest.mark.parametrize(
    ("environment", "platform", "folder"),
    [
        ({"PARITY_CACHE_HOME": "/a", "XDG_CACHE_HOME": "/b"}, "linux", Path("/a")),
        ({"PARITY_CACHE_HOME": "", "XDG_CACHE_HOME": "/b"}, "linux", Path("/b/parity")),
        ({"PARITY_CACHE_HOME": "near"}, "linux", Path("near").absolute()),
        ({"XDG_CACHE_HOME": "/b"}, "darwin", Path("/b/parity")),
        ({"XDG_CACHE_HOME": "relative"}, "linux", HOME / ".cache/parity"),
        ({}, "linux", HOME / ".cache/parity"),
        ({}, "darwin", HOME / "Library/Caches/parity"),
    ],
)
def test_the_cache_folder_is_the_first_one_that_is_named(
    environment: dict[str, str], platform: str, folder: Path
) -> None:
    assert cache_folder(environment, platform) == folder


def test_the_error_without_a_home_names_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError

    monkeypatch.setattr(Path, "home", homeless)

    with pytest.raises(UpstreamUnavailable, match="name a cache folder with PARITY_CACHE_HOME"):
        cache_folder({}, "linux")


def test_a_version_does_not_lead_out_of_the_cache_folder() -> None:
    with pytest.raises(UpstreamUnavailable, match=r"'\.\./x' is not a version"):
        version_folder("../x")
