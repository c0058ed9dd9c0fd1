"""Who may call: tokens, certificates, origins; and what a caller never sees."""

import datetime
import re
import ssl
from ipaddress import ip_address
from pathlib import Path

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from services.model.errors import FatalInputError
from surfaces.a2a.access import Entrance
from tests.surfaces.a2a.conftest import ONE_RUNTIME, Serve
from tests.surfaces.a2a.serving import started
from tests.surfaces.headless.conftest import calls, says, write_answers

CARD = "/.well-known/agent-card.json"


class Authority:
    """Signs certificates, and writes them to a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "authority")])
        self.file = folder / "authority.pem"
        self._write(self.file, self._signed(self._name, self._key, is_authority=True))

    def certificate(self, name: str) -> tuple[str, str]:
        """The files of a certificate for this machine, and of its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        file, key_file = self._folder / f"{name}.pem", self._folder / f"{name}.key"
        self._write(file, self._signed(subject, key, is_authority=False))
        key_file.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        return str(file), str(key_file)

    def _signed(
        self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, *, is_authority: bool
    ) -> x509.Certificate:
        now = datetime.datetime.now(datetime.UTC)
        names = [x509.DNSName("localhost"), x509.IPAddress(ip_address("127.0.0.1"))]
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName(names), critical=False)
            .sign(self._key, hashes.SHA256())
        )

    @staticmethod
    def _write(file: Path, certificate: x509.Certificate) -> None:
        file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))


@ONE_RUNTIME
def test_a_client_without_a_certificate_cannot_connect(folders: Path, runtime: str) -> None:
    authority = Authority(folders)
    certificate, key = authority.certificate("server")
    mine = authority.certificate("client")
    answers = write_answers(folders / "answers.jsonl", says("hello"))
    variables = {
        "PARITY_A2A_TLS_CERT": certificate,
        "PARITY_A2A_TLS_KEY": key,
        "PARITY_A2A_TLS_CLIENT_CA": str(authority.file),
    }
    words = ["--runtime", runtime, "--fake-responses", str(answers)]
    with started(folders, *words, variables=variables) as (_, http):
        context = ssl.create_default_context(cafile=str(authority.file))
        with (
            httpx.Client(base_url=http.base_url, verify=context) as stranger,
            pytest.raises(httpx.TransportError),
        ):
            stranger.get(CARD)
        context.load_cert_chain(*mine)
        with httpx.Client(base_url=http.base_url, verify=context) as known:
            card = known.get(CARD).json()
            message = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]}
            task = known.post("/message:send", json={"message": message}).json()["task"]

    assert card["url"].startswith("https://")
    assert card["securitySchemes"]["mutualTLS"]["type"] == "mutualTLS"
    assert card["securityRequirements"] == [{"schemes": {"mutualTLS": {"list": []}}}]
    assert task["history"][-1]["parts"] == [{"text": "hello"}]


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({}, "PARITY_A2A_TOKEN"),
        ({"PARITY_A2A_TLS_CERT": "x"}, "PARITY_A2A_TLS_KEY"),
        ({"PARITY_A2A_TLS_CLIENT_CA": "x"}, "PARITY_A2A_TLS_KEY"),
        ({"PARITY_A2A_TLS_CERT": "/no", "PARITY_A2A_TLS_KEY": "/no"}, "files in PEM"),
    ],
)
def test_an_entrance_that_is_open_to_all_is_refused(
    variables: dict[str, str], message: str
) -> None:
    with pytest.raises(FatalInputError, match=message):
        Entrance.of("0.0.0.0", variables)


def test_tls_without_certificates_of_clients_needs_a_token(tmp_path: Path) -> None:
    certificate, key = Authority(tmp_path).certificate("server")
    files = {"PARITY_A2A_TLS_CERT": certificate, "PARITY_A2A_TLS_KEY": key}
    with pytest.raises(FatalInputError, match="PARITY_A2A_TOKEN"):
        Entrance.of("0.0.0.0", files)
    entrance = Entrance.of("0.0.0.0", {**files, "PARITY_A2A_TOKEN": "t"})

    assert entrance.warning is None
    assert entrance.url(8000) == "https://0.0.0.0:8000/"
    assert entrance.schemes == {"bearer"}


def test_the_user_learns_that_tasks_travel_unencrypted() -> None:
    variables = {"PARITY_A2A_TOKEN": "t", "PARITY_A2A_URL": "https://agent.example.com/a2a"}
    entrance = Entrance.of("::", variables)

    assert "unencrypted" in (entrance.warning or "")
    assert entrance.url(8000) == "https://agent.example.com/a2a/"
    assert Entrance.of("127.0.0.1", {}).warning is None


@ONE_RUNTIME
async def test_on_another_address_only_the_own_origin_is_served(serve: Serve) -> None:
    async with serve(token="secret", host="0.0.0.0") as peer:
        headers = {"host": "agent.example.com", "authorization": "Bearer secret"}
        own = await peer.http.get(
            "/listCommands", headers={**headers, "origin": "https://agent.example.com"}
        )
        foreign = await peer.http.get(
            "/listCommands", headers={**headers, "origin": "https://evil.example.com"}
        )
        without = await peer.http.get("/listCommands", headers=headers)

        assert (own.status_code, foreign.status_code, without.status_code) == (200, 403, 200)


@ONE_RUNTIME
async def test_every_path_but_the_cards_and_keys_needs_the_token(serve: Serve) -> None:
    async with serve(token="secret") as peer:
        app = peer.app
        for route in app.routes:
            path = getattr(route, "path", "").format(id="x", task_id="x", push_id="x")
            for method in getattr(route, "methods", ()) or ():
                answer = await peer.http.request(method, path)
                is_open = path.endswith((CARD, "/.well-known/jwks.json"))

                assert answer.status_code == (200 if is_open else 401), (method, path)


@ONE_RUNTIME
async def test_any_authorization_is_accepted_where_no_token_is_set(serve: Serve) -> None:
    async with serve() as peer:
        for text in ("Bearer wrong", "Basic eDp5", "nonsense"):
            answer = await peer.http.get("/listCommands", headers={"authorization": text})

            assert answer.status_code == 200


def test_no_secret_of_the_server_is_in_its_events(folders: Path, runtime: str) -> None:
    secrets = {
        "GEMINI_API_KEY": "key-5f0e",
        "PARITY_A2A_TOKEN": "token-77ab",
        "PARITY_A2A_CALLBACK_HOSTS": "hosts-91cd.example.com",
        "SOME_PASSWORD": "word-33ef",
    }
    tells = calls("run_shell_command", command="env; echo told", description="d")
    answers = write_answers(folders / "answers.jsonl", tells, says("done"))
    words = ["--runtime", runtime, "--fake-responses", str(answers)]
    with started(folders, *words, variables=secrets) as (_, http):
        http.headers["authorization"] = "Bearer token-77ab"
        message = {
            "kind": "message",
            "role": "user",
            "messageId": "m",
            "parts": [{"kind": "text", "text": "go"}],
        }
        body = {"jsonrpc": "2.0", "id": 1, "method": "message/stream"}
        streamed = http.post("/", json={**body, "params": {"message": message}}).text
        # There is no third answer, and the model fails.
        more = {**message, "taskId": re.findall('"taskId":"([^"]+)"', streamed)[0]}
        failed = http.post("/", json={**body, "params": {"message": more}}).text
        shown = http.get(CARD).text + http.get("/tasks?includeArtifacts=true").text

    assert "told" in streamed
    assert "failed" in failed
    for name, secret in secrets.items():
        for text in (streamed, failed, shown):
            assert secret not in text, name
