"""Google on a port of this machine: its authorization server, Code Assist and a metadata server."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from email.utils import formatdate
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from services.clock import Clock, SystemClock
from services.environment import Environment
from services.sign_in.store import AccountStore, StoredAccount
from services.sign_in.token_server import Tokens
from tests.security.loopback import Answer, Asked, Server, serving

CLIENT = "client-of-the-tests"
CLIENT_SECRET = "client-secret-5d1"
REFRESH = "refresh-7c2e90"
ACCESS = "access-41ab"
"""Access tokens are this and a number."""
PROJECT = "project-of-the-server"
SAID = "hello from code assist"

Json = dict[str, Any]


def says(text: str) -> Json:
    """A chunk of Code Assist with the whole answer."""
    content = {"role": "model", "parts": [{"text": text}]}
    return {
        "response": {
            "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {
                "promptTokenCount": 7,
                "candidatesTokenCount": 3,
                "totalTokenCount": 10,
            },
            "modelVersion": "m",
        },
        "traceId": "trace-1",
    }


def refused(status: int, message: str, reason: str | None = None, *more: Json) -> Answer:
    """An error of Code Assist; `more` are further details."""
    info = {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "domain": "cloudcode-pa.googleapis.com",
        "reason": reason,
    }
    details = {} if reason is None else {"details": [info, *more]}
    body = {"error": {"code": status, "message": message, **details}}
    return Answer(json.dumps(body).encode(), status, {"content-type": "application/json"})


@dataclass
class Google:
    """The stand-ins: what a test changes about them, and what they have seen."""

    server: Server = field(default_factory=lambda: Server(""))
    valid: set[str] = field(default_factory=set)
    """The access tokens that are accepted."""
    audience: str = CLIENT
    """Whom `tokeninfo` names as the client of a token."""
    lifetime: int = 3600
    refusal: Json | None = None
    """The token endpoint's error."""
    seconds_off: int = 0
    """How far the server's clock is ahead of this machine's."""
    redirect: Callable[[Json], Json] = lambda given: given
    """Changes what the browser is sent back with."""
    loaded: Json = field(
        default_factory=lambda: {
            "currentTier": {"id": "free-tier", "name": "Free"},
            "cloudaicompanionProject": PROJECT,
        }
    )
    polls: int = 0
    """How often the onboarding is still running when it is asked for."""
    chunks: list[Json] = field(default_factory=lambda: [says(SAID)])
    methods: dict[str, Callable[[Asked], Answer]] = field(default_factory=dict)
    """Answers a method of Code Assist, or a path, in its place."""
    revoked: list[str] = field(default_factory=list)
    challenges: dict[str, str] = field(default_factory=dict)
    """The challenge of each code that is not used up."""
    issued: int = 0

    @property
    def variables(self) -> dict[str, str]:
        """The environment of a session that uses them."""
        return {
            "PARITY_OAUTH_URL": self.server.url,
            "PARITY_OAUTH_CLIENT_ID": CLIENT,
            "PARITY_OAUTH_CLIENT_SECRET": CLIENT_SECRET,
            "CODE_ASSIST_ENDPOINT": self.server.url,
            "GCE_METADATA_HOST": self.server.url.removeprefix("http://"),
        }

    def environment(self, **more: str) -> Environment:
        """The machine of such a session."""
        return Environment(platform="linux", variables={**self.variables, **more})

    def issue(self) -> str:
        """A new access token."""
        self.issued += 1
        token = f"{ACCESS}-{self.issued}"
        self.valid.add(token)
        return token

    def store(self, home: Path, clock: Clock | None = None, **changes: Any) -> AccountStore:
        """A store with an account that was signed in before."""
        clock = clock or SystemClock()
        store = AccountStore(home, clock, lambda _: None)
        client_id = changes.pop("client_id", CLIENT)
        tokens = Tokens(access=self.issue(), refresh=REFRESH, expires_ms=clock.now_ms() + 3_600_000)
        store.write(StoredAccount(tokens=replace(tokens, **changes), client_id=client_id))
        return store

    def asked(self, method: str) -> list[Asked]:
        """The requests for one method or path."""
        return [each for each in self.server.asked if method in each.path]

    def bodies(self, method: str) -> list[Any]:
        """What those requests said."""
        return [each.json() for each in self.asked(method)]

    def answer(self, asked: Asked) -> Answer:
        """Answer a request."""
        path = urlsplit(asked.path).path
        name = path.rpartition(":")[2].rpartition("/")[2]
        if name in self.methods:
            return self.methods[name](asked)
        form = dict(parse_qsl(asked.body.decode()))
        if name == "auth":
            return self._authorized(dict(parse_qsl(urlsplit(asked.path).query)))
        if path == "/token":
            return self._token(form)
        if name == "tokeninfo":
            known = form["access_token"] in self.valid
            return self._json(
                {"aud": self.audience} if known else {"error": "invalid_token"}, known
            )
        if name == "revoke":
            self.revoked.append(form["token"])
            return self._json({}, ok=True)
        if path.startswith("/computeMetadata/"):
            return self._metadata(asked)
        return self._code_assist(name, asked)

    def _authorized(self, query: Mapping[str, str]) -> Answer:
        code = f"code-{len(self.challenges) + 1}"
        self.challenges[code] = query["code_challenge"]
        back = self.redirect({"code": code, "state": query["state"]})
        location = f"{query['redirect_uri']}?{urlencode(back)}"
        return Answer(status=302, headers={"location": location})

    def _token(self, form: Mapping[str, str]) -> Answer:
        if self.refusal is not None:
            return self._json(self.refusal, ok=False)
        if (form["client_id"], form.get("client_secret")) != (CLIENT, CLIENT_SECRET):
            return self._json({"error": "invalid_client"}, ok=False)
        if form["grant_type"] == "authorization_code":
            digest = hashlib.sha256(form["code_verifier"].encode()).digest()
            proof = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
            if self.challenges.pop(form["code"], None) != proof:
                return self._json({"error": "invalid_grant"}, ok=False)
            return self._tokens(refresh_token=REFRESH)
        if form["refresh_token"] != REFRESH:
            return self._json({"error": "invalid_grant"}, ok=False)
        return self._tokens()

    def _tokens(self, **more: str) -> Answer:
        said = {"access_token": self.issue(), "expires_in": self.lifetime, **more}
        return self._json({**said, "token_type": "Bearer"}, ok=True)

    def _metadata(self, asked: Asked) -> Answer:
        if asked.headers.get("metadata-flavor") != "Google":
            return Answer(status=403)
        given = self._tokens()
        return Answer(given.body, headers={**given.headers, "metadata-flavor": "Google"})

    def _code_assist(self, name: str, asked: Asked) -> Answer:
        token = asked.headers.get("authorization", "").removeprefix("Bearer ")
        if token not in self.valid:
            return refused(401, "Request had invalid authentication credentials.")
        if name == "loadCodeAssist":
            return self._json(self.loaded, ok=True)
        if name in ("onboardUser", "onboarding-1"):
            done = self.polls == 0
            self.polls -= 1
            project = {"response": {"cloudaicompanionProject": {"id": PROJECT}}}
            state = {"name": "operations/onboarding-1", "done": done, **(project if done else {})}
            return self._json(state, ok=True)
        if name == "streamGenerateContent":
            events = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in self.chunks)
            return Answer(events.encode(), headers={"content-type": "text/event-stream"})
        if name == "generateContent":
            return self._json(self.chunks[0], ok=True)
        if name == "countTokens":
            return self._json({"totalTokens": 12}, ok=True)
        return Answer(status=404)

    def _json(self, said: Json, ok: bool) -> Answer:
        date = formatdate(SystemClock().now_ms() / 1000 + self.seconds_off, usegmt=True)
        headers = {"content-type": "application/json", "date": date}
        return Answer(json.dumps(said).encode(), 200 if ok else 400, headers)


@asynccontextmanager
async def google() -> AsyncIterator[Google]:
    """Serve on a free port."""
    found = Google()
    async with serving(lambda asked: found.answer(asked)) as server:
        found.server = server
        yield found
