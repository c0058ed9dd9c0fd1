import pytest

from harness.experiment.limits import Limits


def test_what_is_not_named_keeps_its_default() -> None:
    assert Limits.parse("cpu=60") == Limits(cpu_s=60)
    assert Limits.parse(" wall = 0.5, memory=2048 ") == Limits(wall_s=0.5, memory_mib=2048)


def test_it_reads_what_it_writes() -> None:
    limits = Limits(cpu_s=0.25, wall_s=7, memory_mib=100)

    assert Limits.parse(str(limits)) == limits


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "'' sets none of cpu, wall and memory"),
        ("time=3", "'time=3' sets none of"),
        ("cpu=1,cpu=2", "cpu is set twice"),
        ("cpu=0", "cpu is '0', which is no number above 0"),
        ("cpu=-1", "cpu is '-1'"),
        ("wall=soon", "wall is 'soon'"),
        ("wall=inf", "wall is 'inf'"),
        ("memory=nan", "memory is 'nan'"),
        ("memory", "memory is ''"),
    ],
)
def test_other_texts_are_refused_with_the_reason(text: str, words: str) -> None:
    with pytest.raises(ValueError, match="^" + words.replace(".", r"\.")):
        Limits.parse(text)


def test_time_adds_up_over_runs_and_memory_does_not() -> None:
    limits = Limits(cpu_s=1, wall_s=2, memory_mib=3).times(4)

    assert limits == Limits(cpu_s=4, wall_s=8, memory_mib=3)
