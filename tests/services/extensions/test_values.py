"""The values that extensions want: where they are kept, and which one counts."""

from __future__ import annotations

import pytest

from services.extensions.configuring import Configuring
from services.extensions.extension import Extension
from services.extensions.manifest import DeclaredSetting, ExtensionError
from services.extensions.store import ExtensionStore
from services.extensions.values import SettingScope
from tests.services.extensions.conftest import SETTINGS, Author, User, run


def opened(author: Author, user: User) -> tuple[ExtensionStore, Extension]:
    store = user.store()
    extension = user.install(store, author.write(settings=list(SETTINGS)))
    user.said.clear()
    return store, extension


def keep(store: ExtensionStore, extension: Extension, value: str, scope: SettingScope) -> None:
    for setting in extension.manifest.settings:
        store.values.write(extension.manifest, extension.id, setting, value, scope)


def test_missing_values_are_named(author: Author, user: User) -> None:
    store = user.store()
    user.install(store, author.write(settings=list(SETTINGS)))

    words = (
        'Extension "demo" has missing settings: Key, Secret. Please run '
        '"/extensions config demo [setting-name]" to configure them.'
    )
    assert user.said == [("warning", words)]


def test_values_are_kept_and_secrets_are_sealed(author: Author, user: User) -> None:
    store, extension = opened(author, user)

    keep(store, extension, "a 'value'", SettingScope.USER)
    extension = store.reload("demo")

    assert extension.environment == {"DEMO_KEY": "a 'value'", "DEMO_SECRET": "a 'value'"}
    file = user.home / ".gemini/extensions/demo/.env"
    assert [each.line for each in extension.values] == [
        f"Key: a 'value' (User - {file})",
        "Secret: *** (User - Keychain)",
    ]
    assert "DEMO_SECRET" not in file.read_text()
    assert file.stat().st_mode & 0o077 == 0
    keep(store, extension, "", SettingScope.USER)
    assert store.reload("demo").environment == {}
    assert [each.shown for each in store.reload("demo").values] == ["[not set]"] * 2


def test_the_workspaces_value_counts_where_it_is_trusted(author: Author, user: User) -> None:
    store, extension = opened(author, user)
    keep(store, extension, "mine", SettingScope.USER)
    keep(store, extension, "here", SettingScope.WORKSPACE)

    assert set(store.reload("demo").environment.values()) == {"here"}
    assert set(user.store(folder_trusted=False).extensions[0].environment.values()) == {"mine"}


def test_other_lines_of_a_file_stay(author: Author, user: User) -> None:
    store, extension = opened(author, user)
    (user.workspace.root / ".env").write_text("# mine\nOTHER=1\n")

    keep(store, extension, "x", SettingScope.WORKSPACE)

    assert (user.workspace.root / ".env").read_text() == "# mine\nOTHER=1\nDEMO_KEY=x\n"


def test_a_value_is_one_line(author: Author, user: User) -> None:
    store, extension = opened(author, user)

    with pytest.raises(ExtensionError, match="cannot contain newlines"):
        keep(store, extension, "a\nb", SettingScope.USER)
    (user.workspace.root / ".env").mkdir()
    with pytest.raises(ExtensionError, match="because it is a directory"):
        keep(store, extension, "a", SettingScope.WORKSPACE)


def test_the_questions_of_a_configuration(author: Author, user: User) -> None:
    store, extension = opened(author, user)
    said: list[str] = []
    answers = iter(["one", "two", "three", None])
    confirmed = iter([True, False])

    async def ask(_: DeclaredSetting) -> str | None:
        return next(answers)

    async def confirm(question: str) -> bool:
        said.append(question)
        return next(confirmed)

    asking = Configuring(
        values=store.values,
        scope=SettingScope.USER,
        ask=ask,
        confirm=confirm,
        say=said.append,
    )

    run(asking.missing(extension))
    assert store.reload("demo").environment == {"DEMO_KEY": "one", "DEMO_SECRET": "two"}
    assert run(asking.every(extension))
    assert store.reload("demo").environment == {"DEMO_KEY": "three", "DEMO_SECRET": "two"}
    assert not run(asking.one(extension, "DEMO_KEY"))
    with pytest.raises(ExtensionError, match="Setting nope not found"):
        run(asking.one(extension, "nope"))
    assert said == [
        'Configuring settings for "demo"...',
        'Setting "Key" (DEMO_KEY) is already set. Overwrite?',
        'Setting "Secret" (DEMO_SECRET) is already set. Overwrite?',
        'Setting "DEMO_KEY" updated.',
    ]
