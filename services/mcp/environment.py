"""The environment of a server's process: without secrets, plus its configured variables.

Source: core `services/environmentSanitization.ts`, `utils/envExpansion.ts` (`dotenv-expand`),
`tools/mcp-client.ts` (`createTransport`); the SDK's `getDefaultEnvironment`.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping
from typing import Final

__all__ = ["expand_variables", "sanitized", "server_environment"]

logger = logging.getLogger(__name__)


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ALWAYS: Final = _names(
    """
    PATH SYSTEMROOT COMSPEC PATHEXT WINDIR TEMP TMP USERPROFILE SYSTEMDRIVE HOME LANG SHELL TMPDIR
    USER LOGNAME TERM COLORTERM ADDITIONAL_CONTEXT AVAILABLE_LABELS BRANCH_NAME DESCRIPTION
    EVENT_NAME GITHUB_ENV IS_PULL_REQUEST ISSUES_TO_TRIAGE ISSUE_BODY ISSUE_NUMBER ISSUE_TITLE
    PULL_REQUEST_NUMBER REPOSITORY TITLE TRIGGERING_ACTOR
    """
)
_NEVER: Final = _names(
    """
    CLIENT_ID DB_URI CONNECTION_STRING AWS_DEFAULT_REGION AZURE_CLIENT_ID AZURE_TENANT_ID
    SLACK_WEBHOOK_URL TWILIO_ACCOUNT_SID DATABASE_URL GOOGLE_CLOUD_PROJECT GOOGLE_CLOUD_ACCOUNT
    FIREBASE_PROJECT_ID
    """
)
_SECRET_NAME: Final = re.compile(
    "TOKEN|SECRET|PASSWORD|PASSWD|KEY|AUTH|CREDENTIAL|CREDS|PRIVATE|CERT"
)
_SECRET_VALUES: Final = tuple(
    re.compile(pattern, re.IGNORECASE | re.ASCII)
    for pattern in (
        r"-----BEGIN (RSA|OPENSSH|EC|PGP) PRIVATE KEY-----",
        r"-----BEGIN CERTIFICATE-----",
        r"(https?|ftp|smtp)://[^:\s]{1,1024}:[^@\s]{1,1024}@",
        r"(ghp|gho|ghu|ghs|ghr|github_pat)_[a-zA-Z0-9_]{36,}",
        r"AIzaSy[a-zA-Z0-9_\\-]{33}",
        r"AKIA[A-Z0-9]{16}",
        r"eyJ[a-zA-Z0-9_-]{0,10240}\.[a-zA-Z0-9_-]{0,10240}\.[a-zA-Z0-9_-]{0,10240}",
        r"(s|r)k_(live|test)_[0-9a-zA-Z]{24}",
        r"xox[abpr]-[a-zA-Z0-9-]+",
    )
)
_RUNS_CODE: Final = _names(
    """
    NODE_OPTIONS NODE_CLI_FLAGS _FORCE_NODE_OPTIONS NODE_PATH ELECTRON_RUN_AS_NODE PYTHONPATH
    PYTHONSTARTUP RUBYOPT RUBYLIB PERL5OPT PERL5LIB LD_PRELOAD LD_AUDIT LD_DEBUG LD_PROFILE
    LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES DYLD_FORCE_FLAT_NAMESPACE DYLD_LIBRARY_PATH
    DYLD_FRAMEWORK_PATH DYLD_FALLBACK_LIBRARY_PATH DYLD_FALLBACK_FRAMEWORK_PATH BASH_ENV ENV
    PERL5DB JAVA_TOOL_OPTIONS _JAVA_OPTIONS CLASSPATH DOTNET_STARTUP_HOOKS CORECLR_PROFILER_PATH
    CORECLR_ENABLE_PROFILING
    """
)
"""Variables that make a program run other code; a configuration may not set them."""

_INHERITED: Final = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER")
_IDENTIFICATION: Final = ("GEMINI_CLI", "1")
_REFERENCE: Final = re.compile(r"(?<!\\)\$\{([^{}]+)\}|(?<!\\)\$([A-Za-z_][A-Za-z0-9_]*)")
_OPERATOR: Final = re.compile(r"(:\+|\+|:-|-)")
_TARGET: Final = "__GCLI_EXPAND_TARGET__"
_TURNS: Final = 1000
"""References followed in one text; more mean that they produce each other endlessly."""


def sanitized(
    variables: Mapping[str, str],
    *,
    allowed: Iterable[str] = (),
    blocked: Iterable[str] = (),
) -> dict[str, str]:
    """`variables` without those that look like secrets, by name or by value.

    Args:
        variables: the process's environment.
        allowed: names that stay, unless the value looks like a secret.
        blocked: names that are removed.
    """
    strict = bool(variables.get("GITHUB_SHA")) or variables.get("SURFACE") == "Github"
    allow = {name.upper() for name in allowed}
    block = {name.upper() for name in blocked}
    return {
        name: value
        for name, value in variables.items()
        if not _is_secret(name.upper(), value.upper(), allow, block, strict=strict)
    }


def server_environment(
    variables: Mapping[str, str],
    given: Mapping[str, str],
    *,
    allowed: Iterable[str] = (),
    blocked: Iterable[str] = (),
    extension: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """The environment of a server's process.

    Args:
        variables: those that child processes may have.
        given: the server's own `env`; `$NAME` is looked up in the sanitised environment.
        allowed: as in `sanitized`.
        blocked: as in `sanitized`.
        extension: the values of the server's extension.
    """
    clean = sanitized(variables, allowed=allowed, blocked=blocked)
    clean |= _harmless(extension or {})
    inherited = {
        name: variables[name]
        for name in _INHERITED
        if name in variables and not variables[name].startswith("()")
    }
    environment = {**inherited, _IDENTIFICATION[0]: _IDENTIFICATION[1], **clean}
    for name, value in _harmless(given).items():
        environment[name] = expand_variables(value, clean)
    return environment


def _harmless(given: Mapping[str, str]) -> dict[str, str]:
    """`given` without the variables that make programs run other code."""
    kept = {}
    for name, value in given.items():
        if name.upper() in _RUNS_CODE:
            logger.warning(
                "Blocked dangerous environment variable override for MCP server: %s", name
            )
        else:
            kept[name] = value
    return kept


def expand_variables(text: str, variables: Mapping[str, str]) -> str:
    r"""`text` with `$NAME`, `${NAME}`, `${NAME:-default}` and `${NAME:+other}` filled in.

    A name without a value is empty; `\$` is a dollar sign.
    """
    if not text:
        return text
    result = variables.get(_TARGET) or _expanded(text, variables)
    return result.replace("\\$", "$")


def _expanded(text: str, variables: Mapping[str, str]) -> str:
    seen: set[str] = set()
    result = text
    for _ in range(_TURNS):
        found = _REFERENCE.search(result)
        if found is None:
            return result
        seen.add(result)
        default, value = _meaning(found[1] or found[2], variables)
        chosen = value if value and value not in seen else default
        # `replace` takes the first occurrence of the template, escaped or not.
        result = result.replace(found[0], _substituted(chosen, found[0], result), 1)
    return result


def _meaning(expression: str, variables: Mapping[str, str]) -> tuple[str, str | None]:
    """Default and value of the expression between the braces."""
    found = _OPERATOR.search(expression)
    # Without an operator the core splits at JavaScript's `null`, that is at these four letters.
    operator = found[0] if found is not None else "null"
    key, *rest = expression.split(operator)
    alternative = operator.join(rest)
    if operator in (":+", "+"):
        return alternative if variables.get(key) else "", None
    return alternative, variables.get(key)


def _substituted(replacement: str, template: str, text: str) -> str:
    """`replacement` with dollar signs as in `String.replace`."""
    if "$" not in replacement:
        return replacement
    before, _, after = text.partition(template)
    special = {"$": "$", "&": template, "`": before, "'": after}
    return re.sub(r"\$([$&`'])", lambda found: special[found[1]], replacement)


def _is_secret(
    name: str, value: str, allowed: set[str], blocked: set[str], *, strict: bool
) -> bool:
    if name.startswith("GEMINI_CLI_"):
        return False
    if value and any(pattern.search(value) for pattern in _SECRET_VALUES):
        return True
    if name.startswith("GIT_CONFIG_") or name in allowed:
        return False
    if name in blocked:
        return True
    if name in _ALWAYS:
        return False
    return name in _NEVER or strict or _SECRET_NAME.search(name) is not None
