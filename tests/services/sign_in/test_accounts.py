"""Which account a session finds, and what it says of one that does not work."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from services.clock import SystemClock
from services.model.auth import AuthType
from services.model.errors import FatalAuthenticationError
from services.sign_in.accounts import Account
from services.sign_in.endpoints import GoogleEndpoints
from services.sign_in.opening import NotSignedIn, find_account
from services.sign_in.store import AccountStore, StoredAccount
from services.sign_in.token_server import Tokens
from tests.security.loopback import Answer
from tests.services.sign_in.stand_ins import ACCESS, CLIENT_SECRET, REFRESH, Google, google
from tests.services.subagents.remote.test_signing_in import service_account

LOGIN, COMPUTE = AuthType.LOGIN_WITH_GOOGLE, AuthType.COMPUTE_ADC
HOUR_MS = 3_600_000


class Off(SystemClock):
    """A clock that is wrong."""

    def __init__(self, minutes: int) -> None:
        self._off_ms = minutes * 60_000

    def now_ms(self) -> int:
        return super().now_ms() + self._off_ms


async def find(
    server: Google,
    home: Path,
    kind: AuthType = LOGIN,
    clock: SystemClock | None = None,
    **more: str,
) -> Account:
    clock = clock or SystemClock()
    return await find_account(kind, {**server.variables, **more}, home, clock, lambda _: None)


async def test_a_stored_account_is_used_until_its_token_expires(tmp_path: Path) -> None:
    async with google() as server:
        server.store(tmp_path)
        account = await find(server, tmp_path)
        assert await account.token() == f"{ACCESS}-1"
        assert not server.asked("/token")[1:]


async def test_an_expired_token_is_refreshed_and_stored(tmp_path: Path) -> None:
    async with google() as server:
        store = server.store(tmp_path, expires_ms=1)
        account = await find(server, tmp_path)
        assert await account.token() == f"{ACCESS}-2"
        stored = store.read()
    assert stored is not None
    assert (stored.tokens.access, stored.tokens.refresh) == (f"{ACCESS}-2", REFRESH)
    assert REFRESH.encode() not in (tmp_path / ".gemini" / "gemini-credentials.json").read_bytes()


async def test_a_revoked_access_token_is_replaced(tmp_path: Path) -> None:
    async with google() as server:
        server.store(tmp_path)
        server.valid.clear()
        assert await (await find(server, tmp_path)).token() == f"{ACCESS}-2"


@pytest.mark.parametrize(
    ("stored", "changes", "sentence"),
    [
        (
            {"expires_ms": 1},
            {"refusal": {"error": "invalid_grant", "error_description": "Token has been revoked."}},
            "The Google sign-in has expired or was revoked; sign in again with `parity auth login`",
        ),
        (
            {"expires_ms": 1, "refresh": None},
            {},
            (
                "The Google sign-in has expired and cannot be refreshed; sign in again with "
                "`parity auth login`"
            ),
        ),
        (
            {},
            {"audience": "another-client"},
            (
                "The stored token was issued to another application; sign in again with "
                "`parity auth login`"
            ),
        ),
        (
            {"client_id": "another-client", "expires_ms": 1},
            {},
            (
                "The stored sign-in belongs to another OAuth client; sign in again with "
                "`parity auth login`"
            ),
        ),
        (
            {"expires_ms": 1},
            {"refusal": {"error": "unauthorized_client"}},
            (
                "Google refuses the OAuth client (unauthorized_client): set "
                "PARITY_OAUTH_CLIENT_ID to the client that the sign-in belongs to, or sign in "
                "again with `parity auth login`"
            ),
        ),
        (
            {"expires_ms": 1},
            {"refusal": {"error": "invalid_grant"}, "seconds_off": 20 * 60 + 5},
            (
                "The Google sign-in has expired or was revoked; sign in again with `parity auth "
                "login`. The clock of this machine is 20 minutes behind the server's: "
                "correct it first"
            ),
        ),
        (
            {"expires_ms": 1},
            {
                "refusal": {
                    "error": "slow_down",
                    "error_description": f"not {REFRESH} of {CLIENT_SECRET}",
                }
            },
            "Google's token server refused the request: slow_down - not *** of ***",
        ),
    ],
)
async def test_an_account_that_does_not_work_is_one_sentence(
    tmp_path: Path, stored: dict[str, Any], changes: dict[str, object], sentence: str
) -> None:
    async with google() as server:
        server.store(tmp_path, **stored)
        for name, value in changes.items():
            setattr(server, name, value)
        with pytest.raises(FatalAuthenticationError) as found:
            await find(server, tmp_path)
    assert str(found.value).startswith(sentence)


@pytest.mark.parametrize(("minutes", "issued"), [(-120, 1), (120, 2)])
async def test_a_wrong_clock_costs_a_refresh_at_most(
    tmp_path: Path, minutes: int, issued: int
) -> None:
    async with google() as server:
        server.store(tmp_path)
        account = await find(server, tmp_path, clock=Off(minutes))
        assert await account.token() == f"{ACCESS}-{issued}"


async def test_a_token_server_that_is_away_is_one_sentence(tmp_path: Path) -> None:
    async with google() as server:
        server.store(tmp_path, expires_ms=1)
    with pytest.raises(FatalAuthenticationError, match=r"^Google's token server cannot be reached"):
        await find(server, tmp_path)


async def test_the_published_tools_plain_file_is_read(tmp_path: Path) -> None:
    (tmp_path / ".gemini").mkdir()
    async with google() as server:
        said = {
            "access_token": server.issue(),
            "refresh_token": REFRESH,
            "expiry_date": SystemClock().now_ms() + HOUR_MS,
        }
        plain = tmp_path / ".gemini" / "oauth_creds.json"
        plain.write_text(json.dumps(said))
        server.audience = "the published tool's client"
        assert await (await find(server, tmp_path)).token() == f"{ACCESS}-1"
        assert json.loads(plain.read_text()) == said


@pytest.mark.parametrize("hours", [1, 3])
async def test_of_two_accounts_the_one_that_expires_later_counts(
    tmp_path: Path, hours: int
) -> None:
    async with google() as server:
        store = server.store(tmp_path, expires_ms=SystemClock().now_ms() + 2 * HOUR_MS)
        said = {
            "access_token": server.issue(),
            "expiry_date": SystemClock().now_ms() + hours * HOUR_MS,
        }
        (tmp_path / ".gemini" / "oauth_creds.json").write_text(json.dumps(said))
        assert await (await find(server, tmp_path)).token() == f"{ACCESS}-{1 if hours == 1 else 2}"
        store.clear()
        assert store.read() is None


@pytest.mark.parametrize("text", ["", "[]", '{"access_token": 1}', "[" * 100_000])
async def test_a_damaged_plain_file_is_no_account(tmp_path: Path, text: str) -> None:
    (tmp_path / ".gemini").mkdir()
    (tmp_path / ".gemini" / "oauth_creds.json").write_text(text)
    async with google() as server:
        with pytest.raises(NotSignedIn, match="run `parity auth login`"):
            await find(server, tmp_path)


def test_a_store_that_cannot_be_decrypted_is_reported_and_kept(tmp_path: Path) -> None:
    (tmp_path / ".gemini").mkdir()
    file = tmp_path / ".gemini" / "gemini-credentials.json"
    file.write_text("00:11:22")
    problems: list[str] = []
    store = AccountStore(tmp_path, SystemClock(), problems.append)
    assert store.read() is None
    assert "cannot be decrypted" in problems[0]
    with pytest.raises(FatalAuthenticationError, match="cannot be stored"):
        store.write(StoredAccount(tokens=Tokens(access="a")))
    assert file.read_text() == "00:11:22"


async def test_a_token_of_the_environment_counts_first(tmp_path: Path) -> None:
    async with google() as server:
        server.store(tmp_path)
        account = await find(
            server, tmp_path, GOOGLE_GENAI_USE_GCA="true", GOOGLE_CLOUD_ACCESS_TOKEN="given"
        )
    assert await account.token() == "given"
    with pytest.raises(FatalAuthenticationError, match="GOOGLE_CLOUD_ACCESS_TOKEN has expired"):
        await account.renewed("given")


async def test_a_key_file_is_used_without_a_sign_in(tmp_path: Path) -> None:
    async with google() as server:
        server.methods["token"] = lambda _: server._tokens()
        key = tmp_path / "account.json"
        key.write_text(json.dumps(service_account(server.server.url)))
        account = await find(server, tmp_path, GOOGLE_APPLICATION_CREDENTIALS=str(key))
        assert await account.token() == f"{ACCESS}-1"
        assert await account.renewed(f"{ACCESS}-1") == f"{ACCESS}-2"


@pytest.mark.parametrize(
    ("description", "mend"),
    [
        (
            "Invalid JWT: Token must be in a reasonable timeframe",
            "Correct the clock of this machine",
        ),
        ("Invalid JWT Signature.", "Create a new key, or name another file in"),
    ],
)
async def test_a_refused_key_file_is_one_sentence(
    tmp_path: Path, description: str, mend: str
) -> None:
    async with google() as server:
        server.refusal = {"error": "invalid_grant", "error_description": description}
        key = tmp_path / "account.json"
        key.write_text(json.dumps(service_account(server.server.url)))
        with pytest.raises(FatalAuthenticationError, match=f"invalid_grant - .*{mend}"):
            await find(server, tmp_path, GOOGLE_APPLICATION_CREDENTIALS=str(key))


@pytest.mark.parametrize("text", [None, "{}", "nothing"])
async def test_a_key_file_without_an_account_is_named(tmp_path: Path, text: str | None) -> None:
    key = tmp_path / "account.json"
    if text is not None:
        key.write_text(text)
    async with google() as server:
        with pytest.raises(FatalAuthenticationError, match=r"account\.json: no usable account"):
            await find(server, tmp_path, GOOGLE_APPLICATION_CREDENTIALS=str(key))


async def test_a_cloud_machine_has_an_account(tmp_path: Path) -> None:
    async with google() as server:
        server.lifetime = 60
        account = await find(server, tmp_path, COMPUTE)
        # Each is about to expire, so that each call fetches another.
        assert await account.token() == f"{ACCESS}-2"


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Answer(status=404), "it answers with HTTP 404"),
        (Answer(b'{"access_token": "a"}'), "the answer is not that of a metadata server"),
        (Answer(b"<html>", headers={"metadata-flavor": "Google"}), "Expecting value"),
    ],
)
async def test_a_machine_without_an_account_says_so(
    tmp_path: Path, answer: Answer, reason: str
) -> None:
    async with google() as server:
        server.methods["token"] = lambda _: answer
        with pytest.raises(
            FatalAuthenticationError, match=f"(?s)^Could not authenticate using metadata.*{reason}"
        ):
            await find(server, tmp_path, COMPUTE)


def test_tokens_go_to_encrypted_addresses_only() -> None:
    with pytest.raises(FatalAuthenticationError, match=r"^PARITY_OAUTH_URL must be an https://"):
        GoogleEndpoints.of({"PARITY_OAUTH_URL": "http://accounts.example"})
