import io

from harness.detection.show import FaultProgress


def test_a_log_gets_a_line_every_ten_seconds_while_one_fault_meets_the_corpus() -> None:
    now, stream = [0.0], io.StringIO()
    with FaultProgress(3, stream, lambda: now[0]) as lines:
        for second in range(1, 31):
            now[0] = second
            lines.update()
        lines.block(25, 2)
        now[0] = 40
        lines.update()

    assert stream.getvalue().splitlines() == [
        "corpus: 0 of 3 faults, 0 found, after 10s",
        "corpus: 0 of 3 faults, 0 found, after 20s",
        "corpus: 0 of 3 faults, 0 found, after 30s",
        "generated: 25 scenarios, 2 faults not found yet, after 40s",
    ]
