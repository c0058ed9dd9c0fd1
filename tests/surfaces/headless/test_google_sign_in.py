"""`parity auth` and `parity agent` with a Google account, against the stand-ins."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from click.testing import CliRunner, Result

from harness.cli import parity
from services.clock import SystemClock
from services.settings.telemetry import TelemetryOverrides
from services.sign_in.store import AccountStore
from tests.security.loopback import Answer
from tests.services.sign_in.stand_ins import (
    ACCESS,
    CLIENT_SECRET,
    PROJECT,
    REFRESH,
    SAID,
    Google,
    google,
    refused,
    says,
)
from tests.services.subagents.remote.test_signing_in import service_account
from tests.standin_thread import in_thread
from tests.surfaces.headless.conftest import Run
from tests.surfaces.headless.test_server_sign_in import BROWSER

SECRETS = (ACCESS, REFRESH, CLIENT_SECRET)


@pytest.fixture
def server(folders: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Google]:
    """The stand-ins, and an environment that names them and Google login."""
    for name in ("GEMINI_API_KEY", "CI", "NO_BROWSER", "BROWSER", "DEBIAN_FRONTEND"):
        monkeypatch.delenv(name, raising=False)
    with in_thread(google) as found:
        for name, value in found.variables.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("GOOGLE_GENAI_USE_GCA", "true")
        yield found


@pytest.fixture
def browser(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opener = folders / "bin" / "xdg-open"
    opener.parent.mkdir()
    opener.write_text(BROWSER.format(python=sys.executable))
    opener.chmod(0o755)
    monkeypatch.setenv("PATH", str(opener.parent), prepend=":")
    monkeypatch.setenv("DISPLAY", ":0")


def auth(*words: str, stdin: str = "") -> Result:
    return CliRunner().invoke(parity, ["auth", *words], input=stdin)


def stored(home: Path) -> str | None:
    found = AccountStore(home, SystemClock(), lambda _: None).read()
    return None if found is None else found.tokens.access


def holding(folder: Path, secrets: tuple[str, ...]) -> list[str]:
    """The files below `folder` in which one of the secrets stands."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    found = {
        str(file.relative_to(folder))
        for file in files
        if any(secret.encode() in file.read_bytes() for secret in secrets)
    }
    assert len(files) > 1, "nothing was written, so nothing was searched"
    return sorted(found)


@pytest.mark.parametrize("runtime", ["legacy", "adk"])
def test_an_account_of_before_answers(
    server: Google, folders: Path, run: Run, runtime: str
) -> None:
    server.store(folders / "home")
    done = run(runtime=runtime)
    assert (done.code, done.out) == (0, f"{SAID}\n"), done.err
    [body] = server.bodies(":streamGenerateContent")
    assert body["project"] == PROJECT
    assert body["request"]["contents"][-1]["parts"][-1] == {"text": "hi"}


def test_models_have_code_assists_names(server: Google, folders: Path, run: Run) -> None:
    server.store(folders / "home")
    assert run(model="gemini-3.5-flash").code == 0
    [body] = server.bodies(":streamGenerateContent")
    assert body["model"] == "gemini-3-flash"


@pytest.mark.parametrize(
    "settings",
    [
        {"security": {"auth": {"selectedType": "compute-default-credentials"}}},
        {"security": {"auth": {"selectedType": "cloud-shell"}}},
    ],
)
def test_a_cloud_machine_answers(
    server: Google, folders: Path, run: Run, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    monkeypatch.setenv("CLOUD_SHELL", "true")
    file = folders / "settings.json"
    file.write_text(json.dumps(settings))
    done = run(settings_file=file)
    assert (done.code, done.out) == (0, f"{SAID}\n"), done.err
    assert server.asked("/computeMetadata/")


def _gemini(_: object) -> Answer:
    """An answer of the Gemini API and of Vertex AI."""
    event = f"data: {json.dumps(says(SAID)['response'])}\n\n"
    return Answer(event.encode(), headers={"content-type": "text/event-stream"})


def test_vertex_answers_an_account_of_a_credentials_file(
    server: Google, folders: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = folders / "account.json"
    key.write_text(json.dumps(service_account(server.server.url)))
    server.methods |= {"token": lambda _: server._tokens(), "streamGenerateContent": _gemini}
    monkeypatch.delenv("GOOGLE_GENAI_USE_GCA")
    for name, value in {
        "GOOGLE_GENAI_USE_VERTEXAI": "true",
        "GOOGLE_APPLICATION_CREDENTIALS": str(key),
        "GOOGLE_CLOUD_PROJECT": "p",
        "GOOGLE_CLOUD_LOCATION": "eu",
        "GOOGLE_VERTEX_BASE_URL": server.server.url,
    }.items():
        monkeypatch.setenv(name, value)
    done = run()
    assert (done.code, done.out) == (0, f"{SAID}\n"), done.err
    [asked] = server.asked(":streamGenerateContent")
    assert asked.headers["authorization"] == f"Bearer {ACCESS}-1"
    assert "/projects/p/locations/eu/" in asked.path


def test_a_gateway_gets_the_headers_and_its_names_of_models(
    server: Google, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.methods["streamGenerateContent"] = _gemini
    monkeypatch.delenv("GOOGLE_GENAI_USE_GCA")
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", server.server.url)
    monkeypatch.setenv("GEMINI_CLI_CUSTOM_HEADERS", "X-Mine: one, X-Other: two")
    done = run(model="gemini-3.5-flash")
    assert (done.code, done.out) == (0, f"{SAID}\n"), done.err
    [asked] = server.asked(":streamGenerateContent")
    assert (asked.headers["x-mine"], asked.headers["x-other"]) == ("one", "two")
    assert "/models/gemini-3.8-flash:" in asked.path


@pytest.mark.parametrize("output", ["text", "json"])
def test_a_user_who_has_not_signed_in_gets_one_sentence(
    server: Google, run: Run, output: str
) -> None:
    done = run(output=output)
    assert done.code == 41
    assert "There is no Google sign-in yet: run `parity auth login`" in done.out + done.err
    assert "Traceback" not in done.err
    assert not server.asked("v1internal")


@pytest.mark.parametrize("runtime", ["legacy", "adk"])
def test_a_token_that_is_revoked_in_the_session_is_one_sentence(
    server: Google, folders: Path, run: Run, runtime: str
) -> None:
    server.store(folders / "home")

    def revoked(_: object) -> Answer:
        server.refusal = {"error": "invalid_grant"}
        return refused(401, "Request had invalid authentication credentials.")

    server.methods["streamGenerateContent"] = revoked
    done = run(runtime=runtime)
    assert done.code == 1
    assert done.err.endswith(
        "UnauthorizedError: The Google sign-in has expired or was revoked; sign in again with "
        "`parity auth login`\n"
    )
    # The model is asked once: another try could not succeed.
    assert len(server.asked(":streamGenerateContent")) == 1


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (refused(403, "The API is disabled."), "Message: The API is disabled."),
        (refused(401, "Invalid credentials."), "Message: Invalid credentials."),
        (Answer(b"<html>", 502), "Message: <html>"),
    ],
)
def test_an_account_that_code_assist_refuses_is_one_sentence(
    server: Google, folders: Path, run: Run, answer: Answer, sentence: str
) -> None:
    server.store(folders / "home")
    server.methods["loadCodeAssist"] = lambda _: answer
    done = run()
    assert (done.code, done.err) == (41, f"Failed to sign in. {sentence}\n")


def test_an_account_that_must_be_verified_gets_the_link(
    server: Google, folders: Path, run: Run
) -> None:
    server.store(folders / "home")
    tier = {
        "reasonCode": "VALIDATION_REQUIRED",
        "reasonMessage": "Verify it.",
        "validationUrl": "https://verify.example",
    }
    server.loaded = {"ineligibleTiers": [tier]}
    done = run()
    assert done.code == 41
    assert done.err == (
        "Failed to sign in. Message: Account validation required: Verify it.\n"
        "Verify the account at https://verify.example, and try again.\n"
    )


def test_the_users_tier_is_logged_where_the_account_is_new(
    server: Google, folders: Path, run: Run
) -> None:
    server.store(folders / "home")
    server.loaded = {"allowedTiers": [{"id": "free-tier", "name": "Free", "isDefault": True}]}
    log = folders / "telemetry.log"
    assert run(telemetry=TelemetryOverrides(enabled=True, outfile=str(log))).code == 0
    text = log.read_text()
    assert '"gemini_cli.onboarding.start"' in text
    assert '"user_tier": "Free"' in text
    assert "gemini_cli.onboarding.duration" in text


def test_tokens_are_nowhere_in_what_a_run_leaves(
    server: Google, folders: Path, run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.store(folders / "home", expires_ms=1)
    telemetry = TelemetryOverrides(enabled=True, outfile=str(folders / "telemetry.log"))
    recorded = folders / "recorded.jsonl"
    done = run(output="stream-json", telemetry=telemetry, record_responses=recorded)
    assert done.code == 0, done.err
    assert server.server.seen(f"{ACCESS}-2")
    assert server.server.seen(REFRESH)
    assert SAID in recorded.read_text()
    assert holding(folders, SECRETS) == []
    assert not any(secret in text for secret in SECRETS for text in (done.out, done.err))
    assert not any(secret in caplog.text for secret in SECRETS)


def test_tokens_are_nowhere_in_a_cassette(server: Google, folders: Path) -> None:
    server.store(folders / "home", expires_ms=1)
    words = ["record", "--out", str(folders / "made.yaml"), "-m", "gemini-2.5-flash", "hi"]
    done = CliRunner().invoke(parity, words)
    assert SAID in (folders / "made.yaml").read_text(), done.output
    assert holding(folders, SECRETS) == []


@pytest.mark.usefixtures("browser")
def test_the_user_signs_in_and_out(server: Google, folders: Path, run: Run) -> None:
    done = auth("login")
    assert (done.exit_code, done.stdout) == (0, "Signed in with Google.\n"), done.output
    assert stored(folders / "home") == f"{ACCESS}-1"
    assert not any(secret in done.output for secret in SECRETS)
    assert run().out == f"{SAID}\n"

    done = auth("logout")
    assert (done.exit_code, done.stdout) == (0, "Signed out of Google.\n"), done.output
    assert server.revoked == [REFRESH]
    assert stored(folders / "home") is None
    assert run().code == 41
    assert auth("logout").stdout == "There is no Google sign-in.\n"


def test_the_user_types_the_code(server: Google, folders: Path) -> None:
    begun = auth("login", "--no-browser", stdin="\n\n")
    assert begun.exit_code == 1
    lines = begun.stderr.splitlines()
    assert lines[-1] == ("Failed to authenticate with user code: Authorization code is required.")
    addresses = [line for line in lines if line.startswith(f"{server.server.url}/auth?")]
    assert len(addresses) == 2
    query = dict(parse_qsl(urlsplit(addresses[0]).query))
    assert query["redirect_uri"] == "https://codeassist.google.com/authcode"
    assert stored(folders / "home") is None


def test_a_sign_out_that_is_not_revoked_still_removes_the_tokens(
    server: Google, folders: Path
) -> None:
    server.store(folders / "home")
    server.methods["revoke"] = lambda _: Answer(status=503)
    done = auth("logout")
    assert done.exit_code == 1
    assert done.stderr == "The sign-in could not be revoked: HTTP 503\n"
    assert stored(folders / "home") is None
