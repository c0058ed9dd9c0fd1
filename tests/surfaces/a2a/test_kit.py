"""A2A's compatibility kit (github.com/a2aproject/a2a-tck) against a server with a scripted model.

`nox -s a2a_kit` fetches the kit. By hand: set `PARITY_A2A_TCK` to a folder with the kit's branches
`0.3.x`, `main` and `1.0-dev` as folders, and `PARITY_A2A_TCK_PYTHON` to a Python with what they
import. What the kit tests is tested in our own words in the other files of this folder.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.surfaces.a2a.conftest import ONE_RUNTIME
from tests.surfaces.a2a.serving import started
from tests.surfaces.headless.conftest import chunk, write_answers

FOLDER = "PARITY_A2A_TCK"
OPTIONAL = (
    ("tests/optional/capabilities", ""),
    ("tests/optional/multi_transport", "transport_equivalence"),
    ("tests/optional/quality", ""),
)
CATEGORIES = {
    "0.3.x": (("tests/mandatory", "mandatory_jsonrpc or mandatory_protocol"), *OPTIONAL),
    "main": (("tests/mandatory", "mandatory or mandatory_protocol"), *OPTIONAL),
    "1.0-dev": (("tests/compatibility", ""),),
}
"""The folders and marks of the kit's categories, as its own runner selects them."""
WORKING_AFTER_SENDING = (
    "tests/optional/quality/test_task_state_quality.py::test_task_state_transitions"
)
"""It wants a task that works after `message/send`, which waits for the end of the turn."""

CAPABILITIES = "tests/optional/capabilities"
CALLED_BACK = "test_send_streaming_message_with_push_notification_config"
OCTETS = "TestMultiModalFeatures::test_binary_data_handling"
KNOWN = {
    "0.3.x": [WORKING_AFTER_SENDING],
    "main": [
        WORKING_AFTER_SENDING,
        # These create their tasks by a blocking SendMessage, and wait until they are working. (The
        # branch is older than the rule that SendMessage waits.)
        *(
            f"tests/mandatory/protocol/test_tasks_list_method.py::{name}"
            for name in (
                "TestArtifactInclusion",
                "TestBasicListing::test_list_all_tasks",
                "TestBasicListing::test_list_tasks_sorted_by_timestamp_descending",
                "TestBasicListing::test_list_tasks_validates_required_fields",
                "TestEdgeCasesAndErrors::test_default_page_size_is_50",
                "TestFiltering",
                "TestHistoryLimiting",
                "TestPagination",
            )
        ),
        # It reads the callbacks of the test before it, too, and does not wait for its own.
        f"{CAPABILITIES}/test_push_notification_config_methods.py::{CALLED_BACK}",
        # It wants an event stream for a task that does not exist; 1.0-dev takes an error.
        f"{CAPABILITIES}/test_streaming_methods.py::test_tasks_subscribe_nonexistent",
        # It sends octets, which the card does not offer, and does not take the error for that.
        f"{CAPABILITIES}/test_transport_specific_features.py::{OCTETS}",
    ],
    "1.0-dev": [
        # The kit wants an agent that answers ids of messages with artifacts and plain messages.
        "tests/compatibility/core_operations/test_artifacts.py",
        # CORE-SEND-003 asks for ContentTypeNotSupportedError, and the test takes it for a failure.
        *(
            "tests/compatibility/core_operations/test_requirements.py::"
            f"test_must_requirement[CORE-SEND-003-{transport}]"
            for transport in ("jsonrpc", "http_json")
        ),
    ],
}


@pytest.fixture
def kit() -> Path:
    folder = Path(os.environ.get(FOLDER, "")).resolve()
    if FOLDER not in os.environ or not folder.is_dir():
        pytest.skip(f"{FOLDER} names no folder with the kit; nox -s a2a_kit fetches it")
    return folder


@ONE_RUNTIME
@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("branch", list(KNOWN))
def test_the_kit_passes_but_for_what_is_known(
    kit: Path, folders: Path, runtime: str, branch: str
) -> None:
    # Each session begins with the first answer, so there are enough for the longest task.
    answers = write_answers(folders / "answers.jsonl", *[chunk({"text": "Hello"})] * 20)
    words = ["--runtime", runtime, "--fake-responses", str(answers)]
    failed = []
    with started(folders, *words, "--model", "gemini-2.5-flash") as (_, http):
        url = str(http.base_url).rstrip("/")
        current = branch == "1.0-dev"
        for path, marks in CATEGORIES[branch]:
            # The card of 1.x alone is below a path, as the kit cannot ask for it by a header.
            where = [f"--sut-host={url}/1.0"] if current else [f"--sut-url={url}"]
            ran = subprocess.run(
                [
                    os.environ.get("PARITY_A2A_TCK_PYTHON", sys.executable),
                    *("-m", "pytest", path, "-q", "-rf", "--tb=no", "-p", "no:cacheprovider"),
                    *(["-m", marks] if marks else []),
                    *where,
                    *([] if current else ["--test-scope=all"]),
                    *(word for name in KNOWN[branch] for word in ("--deselect", name)),
                ],
                cwd=kit / branch,
                capture_output=True,
                text=True,
                env={**os.environ, "TCK_STREAMING_TIMEOUT": "2.0"},
                check=False,
            )
            if ran.returncode not in (0, 5):  # 5: nothing to run
                failed.append(ran.stdout[-3000:])

    assert not failed, "\n".join(failed)
