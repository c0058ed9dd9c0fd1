"""Secrets of every kind, none of them real, put together so that no scanner takes this file
for a leak."""

import base64
from typing import Final

from services.redaction import SecretKind

GOOGLE: Final = "AIza" + "SyD3mO_k3Y-4bcdEfghIjklMnopQrstUvw12"
JWT: Final = ".".join(
    ["eyJ" + "hbGciOiJIUzI1NiJ9", "eyJ" + "zdWIiOiI5ODc2NSJ9", "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"]
)
PEM: Final = "\n".join(
    [
        "-----BEGIN " + "RSA PRIVATE KEY-----",
        "MIIEpAIBAAKCAQEAvQ9xT0dHh3kYzLr0bPQe5m1sX2yWcD4fG6hJ8kL0nB3vC5xZ",
        "a7sD9fG1hJ3kL5mN7bV9cX1zQ2wE4rT6yU8iO0p=",
        "-----END " + "RSA PRIVATE KEY-----",
    ]
)

SECRETS: Final[dict[str, tuple[SecretKind, str, str]]] = {
    "google": (SecretKind.GOOGLE_KEY, "my key is {}.", GOOGLE),
    "openai": (SecretKind.SK_KEY, "key={}", "sk-" + "proj-Ab12Cd34Ef56Gh78Ij90Kl12Mn34"),
    "github": (SecretKind.GITHUB, "git: {}", "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"),
    "github_pat": (SecretKind.GITHUB, "{}", "github_pat_" + "11ABCDEFG0a1B2c3D4e5F6_h7I8j9K0l1M2"),
    "aws": (SecretKind.AWS_KEY, "id {} here", "AKIA" + "IOSFODNN7EXAMPL3"),
    "slack": (SecretKind.SLACK, "({})", "xoxb-" + "210987654321-AbCdEfGhIjKl"),
    "oauth": (SecretKind.GOOGLE_OAUTH, "{}", "ya29." + "a0AfB_byC4x8-Qw7ErTyUiOpAsDf"),
    "refresh": (SecretKind.GOOGLE_OAUTH, "{}", "1//" + "0gQw7ErTyUiOpAsDfGhJkLzXcV-L9Ir"),
    "jwt": (SecretKind.JWT, "token {} was sent", JWT),
    "pem": (SecretKind.PEM, "the file:\n{}\nends", PEM),
    "bearer": (SecretKind.BEARER, "Authorization: Bearer {}\n", "v1.M2Q4f6-opaque_7731"),
    "basic": (
        SecretKind.BEARER,
        "'authorization': 'Basic {}'",
        base64.b64encode(b"karla:correct horse").decode(),
    ),
    "userinfo": (SecretKind.BASIC, "postgres://app:{}@db.example/x", "hunter22hunter"),
    "named": (SecretKind.NAMED, 'api_key="{}"', "9f8e7d6c5b4a39281706"),
    "header": (SecretKind.NAMED, "x-goog-api-key: {}", "9f8e7d6c5b4a39281706"),
    "query": (SecretKind.NAMED, "https://x.example/v1?alt=sse&key={}&a=b", "9f8e7d6c5b4a392817"),
    "home": (SecretKind.HOME, "in /home/{}/notes.txt", "karlotta"),
    "mac_home": (SecretKind.HOME, "in /Users/{}/notes.txt", "karlotta.b"),
    "windows_home": (SecretKind.HOME, r"in C:\Users\{}\notes.txt", "Karlotta Ö"),
}
"""By name: what kind it is, a text that it stands in, and the secret."""
