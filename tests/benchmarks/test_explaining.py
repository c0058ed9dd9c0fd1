from benchmarks.explaining import names_file
from harness.explain import Seam
from harness.faults.catalogue import faults


def test_a_seam_names_the_broken_file_where_it_is_among_those_of_the_seam() -> None:
    fault = faults()["signatures-dropped"]  # in runtimes/legacy/chat.py

    assert names_file(fault, Seam.HISTORY)
    assert names_file(fault, Seam.STREAM)
    assert not names_file(fault, Seam.ROUTING)
    assert not names_file(fault, Seam.UNKNOWN)
