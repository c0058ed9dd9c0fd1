"""Tokens with a fixed beginning: one rule for each service that issues them.

Each rule is named as in gitleaks' default configuration (or detect-secrets' plugins, where only
these have it); beginnings, alphabets and lengths are the services' own. The upper lengths are
generous, because services make their tokens longer over the years.

Neither rule set is used as a library: gitleaks is a program in Go. detect-secrets 1.5.0 (its latest
release, of 2024) says which strings are secrets and not where they stand, needs `requests`, and its
patterns repeat without bounds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

__all__ = ["BEGINNING", "TOKENS", "Token"]

BEGINNING: Final = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrtbf]))"
"""No word character before; an escaped line end is none."""
_STRICT: Final = r"(?:(?<![\w+/=\-])|(?<=\\[nrtbf])|(?<=[\w\"']=))"
"""No base64 character before, either."""
_AFTER_ESCAPE: Final = r"(?<=\\[nrtbf])"
_END: Final = r"(?![A-Za-z0-9])"
_ALNUM: Final = r"[A-Za-z0-9]"
_WORD: Final = r"[A-Za-z0-9_\-]"
_HEX: Final = r"[0-9A-Fa-f]"


@dataclass(frozen=True, slots=True)
class Token:
    """One rule: a text with one of `hints` is searched for `pattern`."""

    rule: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]

    def find(self, text: str) -> Iterator[tuple[int, int]]:
        """The places of tokens. Group 1 of the pattern, if it has one, is the token."""
        for match in self.pattern.finditer(text):
            start, end = match.span(min(self.pattern.groups, 1))
            # A dot at the end is the sentence's.
            yield start, start + len(text[start:end].rstrip("."))


def _token(rule: str, beginnings: str, body: str, *, strict: bool = False) -> Token:
    """A rule for one of `beginnings`, which spaces separate, and `body` after it."""
    hints = tuple(beginnings.split())
    heads = "|".join(map(re.escape, hints))
    return Token(rule, hints, re.compile(f"{_STRICT if strict else BEGINNING}(?:{heads}){body}"))


def _form(rule: str, hint: str, pattern: str) -> Token:
    """A rule whose fixed part stands elsewhere than at the beginning."""
    return Token(rule, (hint,), re.compile(pattern))


TOKENS: Final = (
    _token("1password-service-account-token", "ops_eyJ", rf"{_ALNUM}{{60,4096}}+={{0,3}}"),
    _token("adobe-client-secret", "p8e-", rf"{_ALNUM}{{32}}{_END}"),
    _token("age-secret-key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{40,80}"),
    _token("alibaba-access-key-id", "LTAI", rf"{_ALNUM}{{20}}{_END}", strict=True),
    _token("artifactory-api-key", "AKCp", rf"{_ALNUM}{{50,100}}", strict=True),
    _token("artifactory-reference-token", "cmVmd", rf"{_ALNUM}{{59}}{_END}", strict=True),
    _token("atlassian-api-token", "ATATT3 ATCTT3 ATBB", r"[\w\-=]{24,300}", strict=True),
    _form(
        "azure-ad-client-secret",
        "Q~",
        rf"(?:(?<![\w~.\-])|{_AFTER_ESCAPE})[\w~.\-]{{3}}\dQ~[\w~.\-]{{31,40}}",
    ),
    _token("buildkite (own)", "bkua_", rf"{_HEX}{{40}}"),
    _token("circleci (own)", "CCIPAT_ CCIPRJ_", rf"{_WORD}{{40,128}}"),
    _token("clojars-api-token", "CLOJARS_", rf"{_ALNUM}{{40,80}}"),
    _token("cloudflare-origin-ca-key", "v1.0-", rf"{_HEX}{{24}}-{_HEX}{{100,200}}"),
    _token("databricks-api-token", "dapi", rf"{_HEX}{{32}}(?:-\d)?{_END}", strict=True),
    _token("digitalocean", "dop_v1_ doo_v1_ dor_v1_", rf"{_HEX}{{40,100}}"),
    _form(
        "detect-secrets: discord webhook (own)",
        "/api/webhooks/",
        r"/api/webhooks/\d{15,22}/([\w\-]{50,100})",
    ),
    _token("docker (own)", "dckr_pat_ dckr_oat_", rf"{_WORD}{{20,80}}"),
    _token("doppler-api-token", "dp.pt. dp.st. dp.ct. dp.sa.", r"[A-Za-z0-9._\-]{40,80}"),
    _token("duffel-api-token", "duffel_test_ duffel_live_", r"[\w\-=]{40,60}"),
    _token("dynatrace-api-token", "dt0c01. dt0s01.", r"[A-Z0-9]{20,30}\.[A-Z0-9]{60,70}"),
    _token("easypost-api-token", "EZAK EZTK", rf"{_ALNUM}{{54}}{_END}", strict=True),
    _token("figma (own)", "figd_", rf"{_WORD}{{30,80}}"),
    _token("flutterwave-secret-key", "FLWSECK_TEST- FLWSECK-", rf"{_ALNUM}{{12,64}}"),
    _token("flyio-access-token", "fo1_ fm1a_ fm1r_ fm2_", r"[\w+/\-]{43,4096}+={0,3}"),
    _token("frameio-api-token", "fio-u-", r"[\w\-=]{50,80}"),
    _token("gemini (own)", "AQ.Ab", rf"{_WORD}{{30,200}}", strict=True),
    _token(
        "gitlab",
        "glpat- gldt- glft- glsoat- glrt- glrtr- glcbt- glptt- glagent- glimt- gloas- glffct- "
        "glwt- GR1348941",
        r"[\w\-]{20,200}+(?:\.[\w\-]{1,60}+){0,3}",
    ),
    _token("gcp oauth client secret (own)", "GOCSPX-", rf"{_WORD}{{20,60}}"),
    _token("grafana-cloud-api-token", "glc_", r"[A-Za-z0-9+/]{32,400}+={0,3}"),
    _token("grafana-service-account-token", "glsa_", rf"{_ALNUM}{{32}}_{_HEX}{{8}}"),
    _token("groq (own)", "gsk_", rf"{_ALNUM}{{40,80}}"),
    _form(
        "hashicorp-tf-api-token",
        ".atlasv1.",
        rf"(?:(?<!\w)|{_AFTER_ESCAPE})\w{{14}}\.atlasv1\.[\w\-=]{{60,70}}",
    ),
    _token("heroku-api-key-v2", "HRKU-", rf"{_WORD}{{36,80}}"),
    _token("huggingface-access-token", "hf_", rf"{_ALNUM}{{30,60}}"),
    _token("huggingface-organization-api-token", "api_org_", rf"{_ALNUM}{{30,60}}"),
    _token("infracost-api-token", "ico-", rf"{_ALNUM}{{32}}{_END}"),
    _token("langsmith (own)", "lsv2_pt_ lsv2_sk_", rf"{_HEX}{{32}}_{_HEX}{{10}}"),
    _token("linear-api-key", "lin_api_ lin_oauth_", rf"{_ALNUM}{{32,80}}"),
    _form("mailchimp-api-key", "-us", rf"{BEGINNING}{_HEX}{{32}}-us\d{{1,2}}{_END}"),
    _token("mailgun", "key- pubkey-", rf"{_HEX}{{32}}{_END}"),
    _form(
        "microsoft-teams-webhook",
        ".webhook.office.com/webhookb2/",
        r"\.webhook\.office\.com/webhookb2/([\w@\-]{36,90}/IncomingWebhook/[\w/\-]{32,120})",
    ),
    _token("netlify (own)", "nfp_", rf"{_ALNUM}{{36,60}}"),
    _token("new-relic", "NRAK- NRII- NRJS- NRBR-", rf"{_WORD}{{19,40}}"),
    _token("notion-api-token", "ntn_ secret_", rf"{_ALNUM}{{40,60}}{_END}"),
    _token("npm-access-token", "npm_", rf"{_ALNUM}{{36,80}}"),
    _token("octopus-deploy-api-key", "API-", rf"[A-Z0-9]{{26}}{_END}", strict=True),
    _token("openshift-user-token", "sha256~", rf"{_WORD}{{43}}"),
    _token("perplexity-api-key", "pplx-", rf"{_ALNUM}{{40,80}}"),
    _token("planetscale", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[\w=.\-]{32,80}"),
    _token("postman-api-token", "PMAK-", rf"{_HEX}{{24}}-{_HEX}{{34}}"),
    _token("prefect-api-token", "pnu_ pnb_", rf"{_ALNUM}{{36}}"),
    _token("pulumi-api-token", "pul-", rf"{_HEX}{{40}}"),
    _token("pypi-upload-token", "pypi-Ag", rf"{_WORD}{{40,400}}"),
    _token("readme-api-token", "rdme_", rf"{_ALNUM}{{60,80}}"),
    _token("replicate (own)", "r8_", rf"{_ALNUM}{{37,40}}{_END}"),
    _token("rubygems-api-token", "rubygems_", rf"{_HEX}{{48}}"),
    _token("sendgrid-api-token", "SG.", rf"{_WORD}{{16,32}}\.{_WORD}{{32,64}}"),
    _token("sendinblue-api-token", "xkeysib- xsmtpsib-", rf"{_HEX}{{64}}-{_ALNUM}{{16}}"),
    _token("sentry", "sntrys_ sntryu_", r"[\w+/=]{40,400}"),
    _token("shippo-api-token", "shippo_live_ shippo_test_", rf"{_HEX}{{40}}"),
    _token("shopify", "shpat_ shpss_ shpca_ shppa_", rf"{_HEX}{{32}}"),
    _token("sourcegraph-access-token", "sgp_", rf"(?:{_HEX}{{16}}_|local_)?{_HEX}{{40}}"),
    _token("square-access-token", "sq0atp- sq0csp- sq0idp-", rf"{_WORD}{{22,60}}"),
    _token("square-access-token", "EAAA", rf"{_WORD}{{60}}(?![\w+/=\-])", strict=True),
    _token(
        "stripe-access-token",
        "sk_live_ rk_live_ sk_test_ rk_test_ sk_prod_ rk_prod_ whsec_",
        r"[A-Za-z0-9+/=]{16,260}",
    ),
    _token("supabase (own)", "sbp_ sb_secret_", rf"{_WORD}{{30,60}}"),
    _token("tailscale (own)", "tskey-", rf"{_WORD}{{20,100}}"),
    _form("telegram-bot-api-token", ":AA", rf"{BEGINNING}\d{{8,10}}:AA{_WORD}{{33}}(?![\w\-])"),
    _token("twilio-api-key", "SK", rf"{_HEX}{{32}}{_END}", strict=True),
    _token("typeform-api-token", "tfp_", r"[\w.\-=]{40,80}"),
    _token("vault", "hvs. hvb. hvr.", rf"{_WORD}{{24,300}}"),
    _token("wakatime (own)", "waka_", r"[0-9a-f\-]{36}"),
    _token("xai (own)", "xai-", rf"{_ALNUM}{{60,100}}"),
    _token("yandex-api-key", "AQVN", rf"{_WORD}{{35,38}}", strict=True),
)
