from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.report.model import RunReport
from harness.report.written import WRITERS, Writer, write_report
from tests.harness.report.journals import HEADER, RESULT

REPORT = RunReport(control="legacy", candidate="adk", cases=(RESULT,), planned=1, header=HEADER)


@pytest.mark.parametrize("writer", WRITERS, ids=lambda writer: writer.option)
def test_every_writer_is_there_and_writes(tmp_path: Path, writer: Writer) -> None:
    place = tmp_path / "out"
    place.mkdir()
    place = place if writer.index is not None else place / "file"

    assert write_report(REPORT, {writer.parameter: place}) == [writer.file(place)]
    assert writer.file(place).stat().st_size > 0


def test_what_was_not_asked_for_is_not_written() -> None:
    assert write_report(REPORT, {}) == []


def test_options_and_their_parameters_are_told_apart() -> None:
    assert len({writer.parameter for writer in WRITERS}) == len(WRITERS)


def test_a_place_that_is_gone_by_then_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="choose another place with --json"):
        write_report(REPORT, {"json_file": tmp_path / "gone" / "file"})
