import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from harness.cli import parity
from harness.commands.orders import OrdersSeams
from tests.harness.orders.runs import run_in_order
from tests.harness.samples import BACKEND, write_corpus


def orders(*arguments: object) -> Result:
    words = ["orders", *(str(argument) for argument in arguments)]
    seams = OrdersSeams(backend=BACKEND, run=run_in_order)
    return CliRunner().invoke(parity, words, obj=seams, prog_name="parity")


@pytest.mark.parametrize(
    ("cases", "code"),
    [
        ({"a__1": "two", "a__2": "alone"}, 0),
        ({"a__1": "two", "a__2": "two; adk mixes results up"}, 1),
        ({"a__1": "two; names who was first"}, 1),
        ({"a__1": "two; adk goes one by one"}, 3),
        ({"a__1": "two; adk goes one by one", "a__2": "two; adk mixes results up"}, 1),
        ({"a__1": "two", "a__2": "broken"}, 2),
    ],
)
def test_the_exit_code_is_the_worst_of_two_one_three(
    tmp_path: Path, cases: dict[str, str], code: int
) -> None:
    assert orders(write_corpus(tmp_path, **cases)).exit_code == code


def test_the_report_names_order_difference_and_command(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path, a__1="three; adk mixes results up")

    output = orders(corpus).output

    assert "divergent: a/1" in output
    assert "2 of 6 orders; order 4: 0/1 call, 0/2 call, 0/0 call" in output
    assert "transcript[4] content(user) (extra)" in output
    assert f"reproduce: parity orders {corpus / 'a' / '1.yaml'} --order" in output
    assert "divergent: legacy and adk in every order tried: 1 divergent of 1" in output


def test_the_command_that_it_names_shows_the_difference_again(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path, a__1="three; adk mixes results up")

    alone = orders(corpus / "a" / "1.yaml", "--order", "0/1 call, 0/2 call, 0/0 call")

    assert alone.exit_code == 1
    assert "1 of 1 orders; order 0: 0/1 call, 0/2 call, 0/0 call" in alone.output
    assert orders(corpus / "a" / "1.yaml", "--order", "0/0 call").exit_code == 0


def test_a_leak_is_shown_with_both_orders(tmp_path: Path) -> None:
    output = orders(write_corpus(tmp_path, a__1="two; names who was first")).output

    assert "order-leak: legacy and adk: another result in 1 of 2 orders" in output
    assert "0/0 call was first" in output
    assert "0/1 call was first" in output
    assert "    0/1 call, 0/0 call" in output


def test_what_depends_on_something_shared_is_said_for_both_engines(tmp_path: Path) -> None:
    output = orders(write_corpus(tmp_path, a__1="two; same file; names who was first")).output

    assert "order-dependent: a/1: legacy and adk: the file x.txt (orders 0 and 1: " in output
    assert "parity: legacy and adk in every order tried: 1 parity of 1" in output


def test_a_candidate_that_could_not_be_brought_into_an_order_is_named(tmp_path: Path) -> None:
    output = orders(write_corpus(tmp_path, a__1="two; adk goes one by one")).output

    assert "adk did not follow this order: 0/1 call was next" in output


def test_what_it_rests_on_is_counted(tmp_path: Path) -> None:
    corpus = write_corpus(
        tmp_path, a__1="two", a__2="alone", a__3="four", a__4="two; the second follows the first"
    )

    output = orders(corpus, "--most", 10).output

    words = "tried 14 orders of 3 cases with parallel work, in 2 of them every possible order"
    assert f"{words}; 1 case with one order only" in output
    assert "1 order impossible" in output


def test_everything_is_in_the_json(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "c", a__1="two; same file; names who was first", a__2="broken")
    file = tmp_path / "out.json"

    orders(corpus, "--json", file)

    written: dict[str, Any] = json.loads(file.read_text())
    (case,) = written["cases"]
    assert (written["orders"], written["verdict"], written["exitCode"]) == (1, "parity", 2)
    assert case["answers"] == {"orders": 2, "exhaustive": True}
    assert [run["places"] for run in case["orders"]] == [
        ["0/0 call", "0/1 call"],
        ["0/1 call", "0/0 call"],
    ]
    assert case["findings"][0]["shared"] == ["the file x.txt"]
    assert "is wrong" in written["problems"][0]["message"]


def test_workers_come_to_the_same(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path, a__1="two", a__2="three; adk mixes results up", a__3="alone")

    assert orders(corpus, "-n", 2).stdout == orders(corpus).stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--most", 0), "0 is not in the range"),
        (("--control", "adk+legacy"), "name one runtime for each side"),
        (("--control", "unknown"), "unknown runtime 'unknown'"),
        (("--order", "first this"), "copy it from a report"),
        (("--json", "/"), "is a directory"),
    ],
)
def test_wrong_usage_says_what_to_do(
    tmp_path: Path, options: tuple[object, ...], words: str
) -> None:
    result = orders(write_corpus(tmp_path, a__1="two"), *options)

    assert result.exit_code == 2
    assert words in result.output


def test_an_order_belongs_to_one_cassette(tmp_path: Path) -> None:
    result = orders(write_corpus(tmp_path, a__1="two", a__2="two"), "--order", "0/0 call")

    assert result.exit_code == 2
    assert "name only that cassette" in result.output
