"""A runtime of a third party that is broken is reported in one sentence that names what to mend."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from runtimes.contract import RuntimeUnavailable, UnusableRuntime
from runtimes.registry import check_runtime, known_runtimes, open_runtime, runtime_traits
from tests.runtimes.third_party import GOOD, forgotten, install

NAMED = "the runtime 'mine' (entry point `mine = mine_rt:open_runtime` of mine-rt 1.5)"
MEND = "mend that package or uninstall it; `parity --debug run` shows the traceback"
__all__ = ["forgotten"]

DECORATED = "from contextlib import asynccontextmanager\n@asynccontextmanager\n"


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("raise ValueError('no\\nlicence')", "importing mine_rt failed with ValueError: no"),
        ("import gone_rt", "importing mine_rt failed with ModuleNotFoundError: No module named"),
        ("open_runtime = 1 +", "importing mine_rt failed with SyntaxError: invalid syntax"),
        ("raise SystemExit", "importing mine_rt failed with SystemExit"),
        (None, "importing mine_rt failed with ModuleNotFoundError: No module named 'mine_rt'"),
        ("x = 1", "mine_rt has no open_runtime"),
        ("open_runtime = 3", "its factory is no function but an object of type int"),
        ("def open_runtime(): ...", "its factory does not take the services as its only argument"),
        ("async def open_runtime(s): ...", "an async function without contextlib.asynccontextm"),
        ("async def open_runtime(s): yield", "an async function without contextlib.asynccontext"),
        (f"{GOOD}TRAITS = {{}}", "its traits are no RuntimeTraits but an object of type dict"),
        (f"{GOOD}def traits(variant): return 1 / 0", "calling mine_rt.traits failed with ZeroDiv"),
        (f"{GOOD}def check(variant): return 1 / 0", "calling mine_rt.check failed with ZeroDiv"),
    ],
)
def test_what_is_wrong_shows_before_a_run_in_one_sentence(
    source: str | None, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(install(tmp_path, source))

    with pytest.raises(UnusableRuntime) as raised:
        check_runtime("mine")

    assert str(raised.value).startswith(f"{NAMED} cannot be used: ")
    assert problem in raised.value.problem
    assert raised.value.mend == MEND
    assert "\n" not in str(raised.value)
    assert {"adk", "legacy", "mine"} <= set(known_runtimes())
    check_runtime("legacy")


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("mine = mine_rt", "it names no factory in mine_rt"),
        ("mine = mine-rt:open", "it is not written as `module:factory`"),
        ("mine = mine_rt:Engine.open", "mine_rt has no Engine.open"),
    ],
)
def test_an_entry_point_that_names_no_factory_is_unusable(
    entry: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(install(tmp_path, GOOD, entry=entry))

    with pytest.raises(UnusableRuntime) as raised:
        check_runtime("mine")

    assert problem in raised.value.problem


def test_a_package_whose_preparation_fails_is_unusable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = install(tmp_path, None)
    (folder / "mine_rt").mkdir()
    (folder / "mine_rt" / "__init__.py").write_text(GOOD)
    (folder / "mine_rt" / "warm.py").write_text("import gone_rt")
    monkeypatch.syspath_prepend(folder)

    with pytest.raises(UnusableRuntime, match=r"importing mine_rt\.warm failed with ModuleNotFou"):
        check_runtime("mine")


def test_the_traceback_is_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.syspath_prepend(install(tmp_path, "def f(): raise ValueError('x')\nf()"))

    with caplog.at_level(logging.DEBUG), pytest.raises(UnusableRuntime):
        check_runtime("mine")

    assert f'File "{tmp_path}/mine_rt.py", line 1, in f' in caplog.text


def test_a_runtimes_own_unavailability_is_passed_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    says = "from parity.runtimes.contract import RuntimeUnavailable\n"
    says += "def check(variant): raise RuntimeUnavailable('no key', 'set MINE_KEY')\n"
    monkeypatch.syspath_prepend(install(tmp_path, GOOD + says))

    with pytest.raises(RuntimeUnavailable, match="no key; set MINE_KEY") as raised:
        check_runtime("mine")

    assert not isinstance(raised.value, UnusableRuntime)


def test_a_runtime_of_the_right_shape_can_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    traits = (
        "from parity.runtimes.contract import RuntimeTraits\nTRAITS = RuntimeTraits(words='mine')\n"
    )
    monkeypatch.syspath_prepend(install(tmp_path, GOOD + traits))

    check_runtime("mine")

    assert runtime_traits("mine").words == "mine"


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("def open_runtime(s): return None", "returned no async context manager but None"),
        (
            "async def _open(s): ...\ndef open_runtime(s): return _open(s)",
            "returned no async context manager but an object of type coroutine",
        ),
        (
            f"{DECORATED}async def open_runtime(s): yield 1",
            "opened an object of type int, which has no agent, transcript, reset, settled",
        ),
    ],
)
async def test_the_engine_of_a_factory_is_checked_when_it_is_opened(
    source: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(install(tmp_path, source))
    check_runtime("mine")

    with pytest.raises(UnusableRuntime, match=problem):
        async with open_runtime("mine", None):  # type: ignore[arg-type]
            raise AssertionError("it was opened")
