"""Secrets in the spellings in which they occur, and texts that only look like them.

None of these is a real secret, and none stands here as a whole: each is put together when the
tests run, so that no scanner takes this file for a leak.
"""

import base64
import random
import string
from typing import Final

HEX: Final = "0123456789abcdef"
ALNUM: Final = string.ascii_letters + string.digits
WORD: Final = ALNUM + "_-"
CAPITALS: Final = string.ascii_uppercase + "234567"


def made(length: int, alphabet: str = ALNUM, seed: int = 7) -> str:
    """A text as a generator of keys makes it, the same in each run; it has digits and letters."""
    drawn = random.Random(f"{seed} {length} {alphabet}")
    body = [drawn.choice(alphabet) for _ in range(length)]
    for place, kind in ((1, "digits"), (2, "ascii_letters"), (4, "digits")):
        fit = [c for c in alphabet if c in getattr(string, kind)]
        body[place] = fit[drawn.randrange(len(fit))]
    body[0] = next(c for c in alphabet[10:] if c.isalpha())
    return "".join(body)


def joined(*pieces: str) -> str:
    return "".join(pieces)


_GITHUB: Final = joined("gh", "p_", made(36))
_PASSWORD: Final = joined("tr0ub", "4dor", "&3")
_PLAIN_PASSWORD: Final = joined("hunt", "er22")
_OPAQUE: Final = made(40, HEX)
_AWS_ID: Final = joined("AK", "IA", made(16, CAPITALS))
_AWS_SECRET: Final = made(40, ALNUM + "/+")
_JWT: Final = joined("ey", "J", made(30, WORD), ".", "ey", "J", made(60, WORD), ".", made(43, WORD))
_BASIC: Final = base64.b64encode(joined("karla:", _PASSWORD).encode()).decode()
_AZURE: Final = made(86, ALNUM + "/+") + "=="
_SLACK_HOOK: Final = joined("T", made(8, CAPITALS), "/B", made(8, CAPITALS), "/", made(24))
_PEM_BODY: Final = "\n".join(made(64, ALNUM + "/+", seed) for seed in range(3))


def _pem(kind: str, body: str = _PEM_BODY) -> str:
    return joined("-----BEGIN ", kind, "-----\n", body, "\n-----END ", kind, "-----")


def _token(head: str, length: int, alphabet: str = ALNUM) -> str:
    return joined(head[:2], head[2:], made(length, alphabet))


PROVIDERS: Final = {
    "gcp api key": joined("AI", "za", made(35, WORD)),
    "gcp oauth client": _token("GOCSPX-", 28, WORD),
    "gcp access token": _token("ya29.", 60, WORD),
    "azure client secret": joined("a1b", "8", "Q~", made(34, ALNUM + "_~.-")),
    "github personal": _GITHUB,
    "github oauth": _token("gho_", 36),
    "github server": _token("ghs_", 36),
    "github user": _token("ghu_", 36),
    "github refresh": _token("ghr_", 76),
    "github fine-grained": joined("github", "_pat_", made(22), "_", made(59)),
    "gitlab personal": _token("glpat-", 20, WORD),
    "gitlab runner": _token("glrt-", 20, WORD),
    "gitlab deploy": _token("gldt-", 20, WORD),
    "slack bot": joined("xo", "xb-", "210987654321-", "210987654321-", made(24)),
    "slack app": joined("xa", "pp-1-A0", made(10, CAPITALS), "-1-", made(40, HEX)),
    "stripe live": _token("sk_live_", 24),
    "stripe restricted": _token("rk_live_", 24),
    "stripe test": _token("sk_test_", 99),
    "stripe webhook": _token("whsec_", 32),
    "sendgrid": joined("S", "G.", made(22, WORD), ".", made(43, WORD)),
    "twilio": joined("S", "K", made(32, HEX)),
    "mailgun": joined("key", "-", made(32, HEX)),
    "mailchimp": joined(made(32, HEX), "-", "us12"),
    "npm": _token("npm_", 36),
    "pypi": joined("py", "pi-AgEIcHlwaS5vcmc", made(70, WORD)),
    "rubygems": _token("rubygems_", 48, HEX),
    "hugging face": _token("hf_", 34),
    "openai": joined("s", "k-", made(48)),
    "openai project": joined("s", "k-proj-", made(60, WORD)),
    "anthropic": joined("s", "k-ant-api03-", made(93, WORD), "AA"),
    "groq": _token("gsk_", 52),
    "digitalocean": _token("dop_v1_", 64, HEX),
    "shopify": _token("shpat_", 32, HEX),
    "square": _token("sq0atp-", 22, WORD),
    "square oauth": _token("EAAA", 60, WORD),
    "databricks": _token("dapi", 32, HEX),
    "heroku": _token("HRKU-AA", 58, WORD),
    "artifactory": _token("AKCp", 69),
    "age": joined("AGE-SECRET-", "KEY-1", made(58, CAPITALS)),
    "vault": _token("hvs.", 90, WORD),
    "grafana": joined("gl", "sa_", made(32), "_", made(8, HEX)),
    "docker": _token("dckr_pat_", 27, WORD),
    "postman": joined("PM", "AK-", made(24, HEX), "-", made(34, HEX)),
    "planetscale": _token("pscale_pw_", 43, WORD),
    "linear": _token("lin_api_", 40),
    "new relic": _token("NRAK-", 27, CAPITALS),
    "atlassian": _token("ATATT3", 186, WORD),
    "telegram": joined("123456789", ":AA", made(33, WORD)),
    "doppler": _token("dp.pt.", 43),
    "terraform": joined(made(14), ".atlas", "v1.", made(67, WORD)),
    "aws key id": _AWS_ID,
    "json web token": _JWT,
}
"""Tokens by whose they are: each is known by its form alone."""

FRAMES: Final = {
    "prose": "the token {} was sent",
    "assignment": "TOKEN_ID={}",
    "line of a list": "- {}\n- next",
    "json": '{{"value": "{}"}}',
    "json in json": '{{\\"value\\": \\"{}\\"}}',
    "escaped line end": "first\\n{}\\nlast",
    "colour before": "\x1b[31m{}",
    "colour around": "\x1b[1;31m{}\x1b[0m.",
    "colour after a word": "found\x1b[38;5;196m{}\x1b[0m",
    "escaped colour": "\\u001b[31m{}\\u001b[0m",
    "link of a terminal": "\x1b]8;;https://x.example\x07{}\x1b]8;;\x07",
    "after a percent escape": "https://x.example/?u=a%3D{}%26b",
}
"""Where a token can stand; whichever it is, it is masked and nothing else is."""

PLACED: Final = {
    "aws id, environment": ("AWS_ACCESS_KEY_ID={}", _AWS_ID),
    "aws secret, environment": ("export AWS_SECRET_ACCESS_KEY={}", _AWS_SECRET),
    "aws secret, ini": ("[default]\naws_secret_access_key = {}\n", _AWS_SECRET),
    "aws secret, json": ('{{"SecretAccessKey": "{}"}}', _AWS_SECRET),
    "aws secret, yaml": ("secretAccessKey: {}\n", _AWS_SECRET),
    "aws session token": ("aws_session_token={}", made(120, ALNUM + "/+")),
    "aws signed url": ("https://b.s3.example/x?X-Amz-Expires=5&X-Amz-Signature={}", made(64, HEX)),
    "aws signature": (
        "Authorization: AWS4-HMAC-SHA256 Credential=a/b, Signature={}",
        made(64, HEX),
    ),
    "azure account key": ("AccountName=a;AccountKey={};EndpointSuffix=core", _AZURE),
    "azure shared access key": ("Endpoint=sb://n/;SharedAccessKey={}", made(43) + "="),
    "azure sas": ("https://a.blob.example/c?sv=2024&sig={}&se=2", made(40) + "%3D"),
    "azure sql": ("Server=tcp:h,1433;User Id=sa;Password={};Encrypt=True", _PASSWORD[:-2] + "9"),
    "gcp service account": (
        '{{"type": "service_account", "private_key": "{}"}}',
        _pem("PRIVATE KEY").replace("\n", "\\n") + "\\n",
    ),
    "slack webhook": ("https://hooks.slack.com/services/{}", _SLACK_HOOK),
    "discord webhook": ("https://discord.com/api/webhooks/123456789012345678/{}", made(68, WORD)),
    "npmrc": ("//registry.example/:_authToken={}", made(36, HEX + "-")),
    "npmrc basic": ("//registry.example/:_auth={}", _BASIC),
    "netrc": ("machine h.example login karla password {}", _PLAIN_PASSWORD),
    "heroku by name": ("HEROKU_API_KEY={}", "01234567-89ab-cdef-0123-4a6789abcdef"),
    "wireguard": ("[Interface]\nPrivateKey = {}\n", made(43, ALNUM + "/+") + "="),
    "pem": ("the file:\n{}\nends", _pem("RSA PRIVATE KEY")),
    "pem encrypted": ("{}", _pem("ENCRYPTED PRIVATE KEY")),
    "pem with headers": ("{}", _pem("EC PRIVATE KEY", f"Proc-Type: 4,ENCRYPTED\n\n{_PEM_BODY}")),
    "ssh": ("{}", _pem("OPENSSH PRIVATE KEY")),
    "pgp": ("{}", _pem("PGP PRIVATE KEY BLOCK", f"\n{_PEM_BODY}")),
    "pem in json": ('{{"k": "{}"}}', _pem("PRIVATE KEY").replace("\n", "\\n")),
    "pem coloured": ("\x1b[32m{}\x1b[0m", _pem("PRIVATE KEY")),
    "putty": (
        (
            "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPublic-Lines: 1\nAAAA\n"
            "Private-Lines: 3\n{}\nPrivate-MAC: 0"
        ),
        _PEM_BODY,
    ),
    "redis without a user": ("redis://:{}@cache.example:6379/0", "pw"),
    "redis with a word": ("redis://:{}@cache.example", "swordfish"),
    "postgres": ("postgres://u:{}@db.example/x", "p4ss"),
    "amqp": ("amqp://guest1:{}@mq.example//", _PLAIN_PASSWORD),
    "mongodb": ("mongodb+srv://app:{}@c0.example/?w=1", "S3cr%21et"),
    "token for a user": ("https://{}@git.example/a/b.git", made(40, HEX)),
    "user and token": ("https://oauth2:{}@git.example/a/b.git", made(26)),
    "query token": ("https://x.example/a?token={}&b=1", _OPAQUE),
    "query access_token": ("GET /v1?alt=json&access_token={} HTTP/1.1", _OPAQUE),
    "query api_key": ("https://x.example/?api_key={}", made(20)),
    "query key": ("https://x.example/v1?key={}", made(24)),
    "query signature": ("https://x.example/?e=1&Signature={}", made(40, ALNUM) + "%3D"),
    "query client_secret": ("a=1&client_secret={}&b", made(24)),
    "query code": ("https://app.example/cb?code={}&state=x", made(32, WORD)),
    "query in json": ("https://x.example/?a=1\\u0026token={}", _OPAQUE),
    "query in html": ("https://x.example/?a=1&amp;token={}", _OPAQUE),
    "query of a query": ("/login?next=https%3A%2F%2Fx%2F%3Fa%3D1%26access_token%3D{}", _OPAQUE),
    "fragment": ("https://app.example/cb#access_token={}", _OPAQUE),
    "bearer": ("Authorization: Bearer {}\r\nAccept: */*", made(30)),
    "bearer in curl": ("curl -H 'Authorization: Bearer {}' https://x", made(30)),
    "bearer in json": ('{{"Authorization": "Bearer {}"}}', made(30)),
    "bearer in python": ("{{'Authorization': 'Bearer {}'}}", made(30)),
    "basic": ("Authorization: Basic {}", _BASIC),
    "basic of a proxy": ("Proxy-Authorization: Basic {}", _BASIC),
    "scheme token": ("Authorization: token {}", _OPAQUE),
    "no scheme": ("Authorization: {}", _OPAQUE),
    "digest": ('Authorization: Digest username="k", uri="/", response="{}"', made(32, HEX)),
    "x-api-key": ("x-api-key: {}\n", made(32)),
    "x-api-key in curl": ('curl -H "X-Api-Key: {}" https://x', made(32)),
    "x-auth-token": ("X-Auth-Token: {}", _OPAQUE),
    "x-auth-token in json": ('{{"X-Auth-Token": "{}"}}', _OPAQUE),
    "x-auth-token in python": ("headers={{'X-Auth-Token': '{}'}}", _OPAQUE),
    "x-goog-api-key": ("x-goog-api-key: {}", made(20)),
    "private-token": ("PRIVATE-TOKEN: {}", made(20)),
    "x-vault-token": ("X-Vault-Token: {}", made(24)),
    "cookie": ("Cookie: theme=dark; sid={}; lang=en", made(32)),
    "cookie in curl": ("curl -H 'Cookie: session={}' https://x", made(32)),
    "cookie in python": ("{{'Cookie': 'session={}'}}", made(32)),
    "two headers in a line": ("Cookie: lang=en; Set-Cookie: sid={}; Path=/", made(32)),
    "set-cookie": ("Set-Cookie: sid={}; Path=/; HttpOnly; SameSite=Lax", made(32)),
    "password, environment": ("PASSWORD={}", _PLAIN_PASSWORD),
    "password that is a word": ("export DB_PASSWORD={}", "swordfish"),
    "password, yaml": ("DB_PASSWORD: {}\nport: 1", _PLAIN_PASSWORD),
    "password, json": ('{{"password": "{}"}}', _PASSWORD),
    "password, python": ("connect(user='k', password='{}')", _PASSWORD),
    "password, properties": ("spring.datasource.password={}", _PLAIN_PASSWORD),
    "password, dockerfile": ("ENV MYSQL_ROOT_PASSWORD={}\n", _PLAIN_PASSWORD),
    "password, escaped json": ('{{\\"password\\": \\"{}\\"}}', _PLAIN_PASSWORD),
    "passphrase": ('passphrase: "{}"', "c0rrect horse battery"),
    "pgpassword": ("PGPASSWORD={} psql -h db", _PLAIN_PASSWORD),
    "pass": ("DB_PASS={}", _PLAIN_PASSWORD),
    "client_secret, json": ('{{"client_secret": "{}"}}', made(24)),
    "token, environment": ("export TOKEN={}", made(24)),
    "api token, toml": ('api_token = "{}"', made(24)),
    "secret, environment": ("JWT_SECRET={}", made(24)),
    "flag --password": ("tool --password {} run", _PLAIN_PASSWORD),
    "flag --password=": ("tool --password={} run", _PLAIN_PASSWORD),
    "flag --token": ("gh auth login --token '{}'", made(24)),
    "flag --api-key": ("tool --api-key {}", made(24)),
    "mysql -p": ("mysql -u root -p{} shop", _PLAIN_PASSWORD),
    "sshpass -p": ("sshpass -p '{}' ssh k@h", _PLAIN_PASSWORD),
    "redis-cli -a": ("redis-cli -h c -a {} ping", _PLAIN_PASSWORD),
    "curl -u": ("curl -u karla:{} https://x", _PLAIN_PASSWORD),
    "password coloured": ("\x1b[1mPASSWORD=\x1b[0m{}", _PLAIN_PASSWORD),
    "header coloured": ("\x1b[36mx-auth-token\x1b[0m: \x1b[32m{}\x1b[0m", _OPAQUE),
    "percent-encoded parameter": ("q=1%26token%3D{}", _OPAQUE),
}
"""By name: a text, and a secret in it that its place gives away."""

CLEAN: Final = [
    "token = parser.next_token()",
    "let token = self.tokens.peek(1);",
    "password: str",
    "password: str | None = None",
    "password: Optional[str] = None,",
    'password = getpass("Password: ")',
    "password = input('Your password: ')",
    "password = os.environ['DB_PASSWORD']",
    "const password = process.env.DB_PASSWORD;",
    "password=self.password, user=self.user",
    "PASSWORD=$DB_PASSWORD PASSWORD=${PASSWORD} PASSWORD=$(cat file)",
    "DB_PASSWORD=changeme",
    "PASSWORD=<your password>",
    "POSTGRES_PASSWORD: ${{ secrets.DB_PASSWORD }}",
    "password_file: /run/secrets/db",
    "PASSWORD=/run/secrets/db_password",
    '{"password": {"type": "string"}}',
    '{"password": "required", "token": "string"}',
    '{"type": "password", "label": "Password: at least 8 characters"}',
    "Enter password: ",
    "The password is stored hashed; a token is a word.",
    "usage: tool --password PASSWORD --token TOKEN",
    "tool --password-stdin < file",
    "--token, -t   the token to use",
    "secret = load_secret(name)",
    "const secret = crypto.randomBytes(32)",
    "client_secret=settings.client_secret",
    "api_key = config['api_key']",
    'if token == "function":',
    "tokens: 1234, max_tokens=65535, total_tokens: 4096",
    "tokenizer = AutoTokenizer.from_pretrained('bert-base-uncased')",
    "eos_token = '<|endoftext|>'; pad_token_id = 50256",
    '{"nextPageToken": "CAUQAA1234567890abcdef"}',
    '{"promptTokenCount": 12, "candidatesTokenCount": 7}',
    "key = 'primary_key_2'; foreign_key=users.id1",
    "sort_key: created_at_2, cache_key=user_1234_v2",
    "public_key: 0xabc123",
    "primaryKey: 12345678901234567890",
    "0b4e28ba-2fa1-41d2-883f-0016d3cca427",
    "commit 82cb26d1f0b7c6a5e4d3c2b1a09f8e7d6c5b4a39",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4",
    "data:font/woff2;base64,d09GMgABAAAAAAPQAA0AAAAAB4AAAAN6AAEAAAAAAAAAAAAAAAAAAAAAAAAA",
    "thoughtSignature: CpsBAY89a1sfkXeYjPOxwOBaLNTXmWY8yoBk_ktF1NXk2NKsRVByR0grf5TqMKE0JtGGA",
    "session-2026-01-01T00-00-1f3870be.jsonl",
    "read_file_1767225600001_0 call_8a7b6c5d4e3f2a1b",
    "sessionId: 1f3870be-274f-4c49-b3e3-1a0c6728957f",
    "/home/user/project/src/token_parser_2.py:120: password check",
    "src/auth/password_reset_v2/tokens.ts",
    "C:\\work\\secrets\\token1.txt",
    "https://example.org/a/b?page=2&sort=asc&code=404&key=value#section-2",
    "http://localhost:8080/path@2 http://127.0.0.1:9/mcp",
    "https://user@example.org/ ssh://git@example.org:22/a/b",
    "postgres://user:password@localhost/db postgres://${USER}:${PASS}@db/x",
    "git@github.com:a/b.git 12:34:56 a:b@c",
    "Cookie: theme=dark; lang=en",
    "cookies are small; a cookie = a biscuit",
    "Set-Cookie: <name>=<value>; Path=/",
    "Authorization: Bearer <token>, Authorization: Basic auth, Authorization: required",
    'WWW-Authenticate: Bearer realm="example", error="invalid_token"',
    "Accept: */*\nContent-Type: application/json\nX-Request-Id: 0b4e28ba2fa141d2883f",
    'ETag: W/"0815abcdef4711"',
    "sk-learn sk-spinner-chasing-dots-container-wide sk_buff_head_init sk_live_ hf_hub_download_1",
    "npm_config_registry npm_lifecycle_event pypi-server-2 glpat- shpat_ SG. key-value-store-1",
    "SKIP_ALL_THE_TESTS_1 TASK0123456789 AKIA EAAA dapi key-0123 pul-1",
    "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx AKIAXXXXXXXXXXXXXXXX",
    "the flag -----BEGIN PRIVATE KEY----- marks a key",
    "\x1b[1mtests\x1b[0m \x1b[32m12 passed\x1b[0m in 3.4s \x1b[2Kdone",
    "100% of 50%2B; printf('%d%s'); url%20with%20spaces; caf\u00e9\u200b here",
    "mysql -u root -p shop; mysql -P 3306 -h db; docker run -p 8080:80 img",
    "curl -u karla https://x; curl -o out:1 https://x",
    "mkdir -p src/parser1/test2; ssh -p 2222 host; cp -p a1 b2",
    "env: TOKEN_COUNT=12, SECRET_NAME=projects-prod, KEY_ID=4",
    "ansible_password: '{{ vault_password }}'",
    "regex: (?i)password\\s*[:=]\\s*\\S+",
    "assert user.password == 'secret'",
]
"""Texts that must come back as they are."""
