"""The folders that the user trusts, and the question about one that no rule covers."""

from __future__ import annotations

import json
import stat
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from services.folder_trust import TrustedFolders, settled_trust
from services.interaction.interaction import Handlers, Interaction
from services.interaction.questions import TrustChoice, TrustQuestion
from services.settings import Settings, settings_from_parameters
from services.workspace import Workspace

pytestmark = pytest.mark.contract("P-299")


class _User:
    """Answers the question, and counts how often it is asked."""

    def __init__(self, answer: TrustChoice | Exception | None) -> None:
        self.answer = answer
        self.asked: list[str] = []

    async def __call__(self, question: TrustQuestion) -> TrustChoice | None:
        self.asked.append(question.folder)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root, home = tmp_path / "projects" / "ws", tmp_path / "home"
    root.mkdir(parents=True)
    home.mkdir()
    return Workspace(root=root, home=home)


def _write(workspace: Workspace, text: str) -> Path:
    file = workspace.home / ".gemini" / "trustedFolders.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    return file


async def _settle(
    workspace: Workspace,
    user: _User | None,
    settings: Settings | None = None,
    variables: Mapping[str, str] = MappingProxyType({}),
) -> Settings:
    interaction = Interaction(None if user is None else Handlers(trust=user))
    return await settled_trust(settings or Settings(), workspace, interaction, variables)


@pytest.mark.parametrize(
    ("choice", "trusted"),
    [
        (TrustChoice.TRUST_FOLDER, True),
        (TrustChoice.TRUST_PARENT, True),
        (TrustChoice.DO_NOT_TRUST, False),
    ],
)
async def test_the_decision_is_remembered_and_asked_once(
    workspace: Workspace, choice: TrustChoice, trusted: bool
) -> None:
    user = _User(choice)
    file = _write(workspace, '{"/elsewhere": "TRUST_FOLDER"}')

    first, second = await _settle(workspace, user), await _settle(workspace, user)

    assert (first.folder_trusted, second.folder_trusted) == (trusted, trusted)
    assert first.parameters["trustedFolder"] is trusted
    assert user.asked == [str(workspace.root)]
    assert json.loads(file.read_text()) == {
        "/elsewhere": "TRUST_FOLDER",
        str(workspace.root): choice.value,
    }


async def test_the_file_is_private_to_its_owner(workspace: Workspace) -> None:
    await _settle(workspace, _User(TrustChoice.TRUST_FOLDER))

    file = workspace.home / ".gemini" / "trustedFolders.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [each.name for each in file.parent.iterdir()] == [file.name]


@pytest.mark.parametrize("answer", [None, RuntimeError("closed")])
async def test_without_a_decision_the_settings_hold(
    workspace: Workspace, answer: Exception | None
) -> None:
    settings = settings_from_parameters({"trustedFolder": False})

    assert await _settle(workspace, _User(answer), settings) is settings
    assert not (workspace.home / ".gemini").exists()


async def test_without_a_surface_the_file_is_not_read(workspace: Workspace) -> None:
    _write(workspace, "broken")
    settings = Settings()
    assert await _settle(workspace, None, settings) is settings


async def test_folder_trust_may_be_switched_off(workspace: Workspace) -> None:
    user, settings = _User(TrustChoice.DO_NOT_TRUST), Settings(folder_trust=False)
    assert await _settle(workspace, user, settings) is settings
    assert user.asked == []


@pytest.mark.parametrize(
    ("variables", "trusted"),
    [
        ({"GEMINI_CLI_TRUST_WORKSPACE": "true"}, True),
        ({"GEMINI_CLI_TRUST_WORKSPACE": "false"}, False),
        ({"GEMINI_CLI_TRUST_WORKSPACE": "true", "GEMINI_RESTRICTED_MODE": "true"}, False),
    ],
)
async def test_the_environment_decides_first(
    workspace: Workspace, variables: dict[str, str], trusted: bool
) -> None:
    user = _User(TrustChoice.TRUST_FOLDER)
    settled = await _settle(workspace, user, variables=variables)
    assert (settled.folder_trusted, user.asked) == (trusted, [])


@pytest.mark.parametrize(
    ("rules", "trusted"),
    [
        ({"{ws}": "TRUST_FOLDER"}, True),
        ({"{projects}": "DO_NOT_TRUST"}, False),
        ({"{projects}": "DO_NOT_TRUST", "{ws}": "TRUST_FOLDER"}, True),
        ({"{projects}": "TRUST_FOLDER", "{ws}": "DO_NOT_TRUST"}, False),
        ({"{projects}/other": "TRUST_PARENT"}, True),
        ({"{projects}/other": "TRUST_FOLDER"}, None),
        ({"{ws}x": "TRUST_FOLDER"}, None),
        ({}, None),
    ],
)
def test_the_longest_rule_that_covers_the_folder_decides(
    workspace: Workspace, rules: dict[str, str], trusted: bool | None
) -> None:
    places = {"{ws}": str(workspace.root), "{projects}": str(workspace.root.parent)}

    def placed(path: str) -> str:
        for name, place in places.items():
            path = path.replace(name, place)
        return path

    _write(workspace, json.dumps({placed(path): level for path, level in rules.items()}))
    folders = TrustedFolders(workspace.home)
    folders.load()

    assert folders.trusts(workspace.root) is trusted


def test_a_folder_is_known_by_its_real_path(workspace: Workspace, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(workspace.root)
    rule = json.dumps({str(workspace.root): "TRUST_FOLDER"})
    _write(workspace, f"// the user's own\n{rule}")
    folders = TrustedFolders(workspace.home)
    folders.load()

    assert folders.trusts(link) is True


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{broken", "mend the file"),
        ("[]", "not an object of paths"),
        ('{"/a": "MAYBE"}', '"MAYBE" for "/a" is no trust level'),
        ('{"/a": 7}', '"7" for "/a" is no trust level'),
        ('{"/a": []}', "is no trust level"),
    ],
)
async def test_a_broken_file_is_named(workspace: Workspace, text: str, words: str) -> None:
    file = _write(workspace, text)
    with pytest.raises(ValueError, match=r"trustedFolders\.json") as raised:
        await _settle(workspace, _User(TrustChoice.TRUST_FOLDER))
    assert words in str(raised.value)
    assert file.read_text() == text


async def test_a_file_that_cannot_be_written_keeps_the_decision_for_the_session(
    workspace: Workspace, caplog: pytest.LogCaptureFixture
) -> None:
    (workspace.home / ".gemini").write_text("a file in the place of the folder")

    folders = TrustedFolders(workspace.home)
    folders.remember(workspace.root, TrustChoice.DO_NOT_TRUST)

    assert folders.trusts(workspace.root) is False
    assert "cannot be kept" in caplog.text
