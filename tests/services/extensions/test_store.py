"""Installing, updating and removing extensions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from services.extensions.consent import INSTALL_WARNING
from services.extensions.manifest import ExtensionError
from services.extensions.origins import InstallType, Origin, origin_of
from services.extensions.store import EnabledIn, UpdateState
from tests.services.extensions.conftest import SETTINGS, Author, User, run


def test_a_folder_is_copied_after_the_user_has_agreed(author: Author, user: User) -> None:
    source = author.write(
        mcpServers={
            "s": {"command": "run", "args": ["x"], "env": {"API_KEY": "s3cret", "MODE": "fast"}},
            "far": {"httpUrl": "https://example.com"},
        },
        contextFileName=["A.md", "B.md"],
        excludeTools=["write_file"],
    )
    author.put("A.md", "context")
    author.put("skills/tidy/SKILL.md", "---\nname: tidy\ndescription: Tidies.\n---\nDo.")
    author.put("hooks/hooks.json", '{"hooks": {}}')
    store = user.store()

    extension = user.install(store, source)

    (text,) = user.asked
    lines = text.split("\n")
    assert lines[0] == 'Installing extension "demo".'
    assert "  * s (local): run x" in lines
    assert "  * far (remote): https://example.com" in lines
    assert "      - API_KEY: ********" in lines
    assert "      - MODE: fast" in lines
    assert "This extension will append info to your gemini.md context using A.md,B.md" in lines
    assert "This extension will exclude the following core tools: write_file" in lines
    assert any("contains Hooks" in line for line in lines)
    assert "  * tidy: Tidies." in lines
    assert INSTALL_WARNING in lines
    assert extension.folder == user.home / ".gemini/extensions/demo"
    assert extension.active
    assert [file.name for file in extension.context_files] == ["A.md"]
    record = json.loads((extension.folder / ".gemini-extension-install.json").read_text())
    assert record == {"source": str(source), "type": "local"}
    again = user.store()
    assert [each.name for each in again.active] == ["demo"]
    with pytest.raises(ExtensionError, match="is already installed"):
        user.install(again, source)


def test_a_user_who_does_not_agree_gets_nothing(author: Author, user: User) -> None:
    user.agrees = False

    with pytest.raises(ExtensionError, match='Installation cancelled for "demo"'):
        user.install(user.store(), author.write())

    assert not (user.home / ".gemini/extensions/demo").exists()


def test_an_untrusted_workspace_is_asked_about_first(author: Author, user: User) -> None:
    user.install(user.store(folder_trusted=False), author.write())

    assert [text.split(" ")[0] for text in user.asked] == ["The", "Installing"]
    user.agrees = False
    with pytest.raises(ExtensionError, match="is not trusted"):
        user.install(user.store(folder_trusted=False), author.write("other"))


def test_a_linked_extension_is_used_where_it_is(author: Author, user: User) -> None:
    source = author.write()
    store = user.store()

    origin = Origin(source=str(source), type=InstallType.LINK)
    assert run(store.install(origin, user.consent)).folder == source
    author.write(version="2.0.0")

    assert store.reload("demo").version == "2.0.0"
    assert run(store.update_state("demo")) is UpdateState.NOT_UPDATABLE
    with pytest.raises(ExtensionError, match="is linked"):
        run(store.update("demo", user.consent))
    run(store.uninstall("demo"))
    assert source.exists()
    assert user.store().extensions == ()


def test_a_folder_is_updated_when_its_version_changes(author: Author, user: User) -> None:
    source = author.write(settings=list(SETTINGS[:1]))
    store = user.store()
    user.install(store, source)
    (user.home / ".gemini/extensions/demo/.env").write_text("DEMO_KEY=mine\n")

    assert run(store.update_state("demo")) is UpdateState.UP_TO_DATE
    author.write(version="1.1.0", settings=list(SETTINGS[:1]))
    assert run(store.update_state("demo")) is UpdateState.AVAILABLE
    updated = run(store.update("demo", user.consent))

    assert updated.message == 'Extension "demo" successfully updated: 1.0.0 \u2192 1.1.0.'
    assert len(user.asked) == 1  # It brings nothing else than before.
    assert user.store().extensions[0].environment == {"DEMO_KEY": "mine"}


def test_an_update_that_brings_more_asks_again_and_may_be_refused(
    author: Author, user: User
) -> None:
    source = author.write()
    store = user.store()
    user.install(store, source)
    author.write(version="2.0.0", excludeTools=["write_file"])
    user.agrees = False

    with pytest.raises(ExtensionError, match="Installation cancelled"):
        run(store.update("demo", user.consent))

    assert [each.version for each in user.store().extensions] == ["1.0.0"]


def test_an_extension_may_get_another_name(author: Author, user: User) -> None:
    source = author.write()
    store = user.store()
    user.install(store, source)
    store.set_enabled("demo", EnabledIn.USER, on=False)
    (source / "gemini-extension.json").write_text('{"name": "renamed", "version": "2"}')

    run(store.update("demo", user.consent))

    assert user.asked[-1].startswith('Renaming extension "demo" to "renamed"')
    again = user.store()
    assert [(each.name, each.active) for each in again.extensions] == [("renamed", False)]


def test_a_repository_is_cloned_and_updated(author: Author, user: User) -> None:
    author.write()
    address = author.commit()
    store = user.store()

    extension = user.install(store, address, auto_update=True)

    assert extension.origin == Origin(source=address, type=InstallType.GIT, auto_update=True)
    assert run(store.update_state("demo")) is UpdateState.UP_TO_DATE
    author.write(version="1.1.0")
    author.commit()
    assert run(store.update_state("demo")) is UpdateState.AVAILABLE
    assert run(store.update("demo", user.consent)).now == "1.1.0"
    assert run(store.update_state("demo")) is UpdateState.UP_TO_DATE


def test_a_ref_of_a_repository_is_installed(author: Author, user: User) -> None:
    author.write()
    address = author.commit()
    first = user.install(user.store(), address, ref="main")

    assert first.version == "1.0.0"
    with pytest.raises(ExtensionError, match="Failed to clone Git repository"):
        user.install(user.store(), address, ref="no-such-branch")
    with pytest.raises(ExtensionError, match="Failed to clone Git repository"):
        user.install(user.store(), "file:///no/such/repository")


@pytest.mark.parametrize("address", ["ext::sh -c touch% x", "https://", "file:///nowhere"])
def test_an_address_runs_no_program(user: User, address: str, tmp_path: Path) -> None:
    with pytest.raises(ExtensionError):
        run(
            user.store().install(Origin(source=address, type=InstallType.GIT), user.consent),
        )

    assert not (tmp_path / "x").exists()


def test_local_sources_take_no_options_of_repositories(author: Author, user: User) -> None:
    source = author.write()

    with pytest.raises(ExtensionError, match="not applicable"):
        origin_of(str(source), user.workspace.root, ref="main")
    with pytest.raises(ExtensionError, match="Install source not found"):
        origin_of("nowhere", user.workspace.root)


def test_extensions_are_enabled_and_disabled_in_scopes(author: Author, user: User) -> None:
    store = user.store()
    user.install(store, author.write())

    store.set_enabled("demo", EnabledIn.WORKSPACE, on=False)
    assert not user.store().active
    assert user.store().is_enabled("demo", EnabledIn.USER)
    store.set_enabled("demo", EnabledIn.SESSION, on=True)
    assert store.active
    assert not user.store().active
    with pytest.raises(ExtensionError, match="Extension with name nope does not exist"):
        store.set_enabled("nope", EnabledIn.USER, on=True)


def test_only_the_extensions_of_the_command_line_are_active(author: Author, user: User) -> None:
    store = user.store()
    user.install(store, author.write())
    user.install(store, author.write("other"))

    assert [each.name for each in user.store(only=["Other"]).active] == ["other"]
    assert user.store(only=["none"]).active == ()
    user.store(only=["gone"])
    assert user.said == [("error", "Extension not found: gone")]


def test_what_cannot_be_loaded_is_reported_and_left_out(author: Author, user: User) -> None:
    folder = user.home / ".gemini/extensions"
    (folder / "empty").mkdir(parents=True)
    (folder / "file").write_text("x")
    user.install(user.store(), author.write())
    user.said.clear()

    assert [each.name for each in user.store().extensions] == ["demo"]
    (problem,) = user.said
    assert problem[0] == "warning"
    assert "Skipping extension in" in problem[1]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"block_git_extensions": True}, "remote sources is disallowed"),
        ({"allowed_extensions": ("example[.]com",)}, 'not allowed by the "allowedExtensions"'),
        ({"allowed_extensions": ("(",)}, "Invalid regex pattern"),
    ],
)
def test_the_settings_may_forbid_a_source(
    author: Author, user: User, settings: dict[str, Any], words: str
) -> None:
    author.write()

    with pytest.raises(ExtensionError, match=words):
        user.install(user.store(**settings), author.commit())


def test_an_extension_is_removed_by_its_source_too(author: Author, user: User) -> None:
    source = author.write()
    store = user.store()
    user.install(store, source)

    assert run(store.uninstall(str(source))).name == "demo"
    assert not (user.home / ".gemini/extensions/demo").exists()
    with pytest.raises(ExtensionError, match="Extension not found"):
        run(store.uninstall("demo"))


def test_a_folder_of_somebody_else_is_never_replaced(author: Author, user: User) -> None:
    place = user.home / ".gemini/extensions/demo"
    store = user.store()
    place.mkdir(parents=True)

    with pytest.raises(ExtensionError, match="a directory with that name already exists"):
        user.install(store, author.write())

    assert list(place.iterdir()) == []
