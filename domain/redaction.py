"""Credentials and numbers of people in a text, and the text without them.

What is looked for and how it is marked: the system of reference, memory defense ("sensitive_data"). Letters of any
script may stand right beside a secret, so only ASCII letters and digits ever count as its continuation. Every pattern
is read in linear time: it either begins with letters of its own or cannot begin inside a run it has already read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial


def _always(_found: str) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of secret: `name` marks where one stood, one of `hints` is in every text in small letters that has one,
    group `secret` of `pattern` is the secret when it is not the whole match."""

    name: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]
    is_secret: Callable[[str], bool] = _always

    def may_be_in(self, lowered: str) -> bool:
        return any(hint in lowered for hint in self.hints)


def redacted(text: str) -> str:
    """The text with `[REDACTED:kind]` for each secret; a text without secrets as it is."""
    return _screened(text)[0]


def secrets_in(text: str) -> tuple[str, ...]:
    """The kinds of the secrets in a text, each once; never the secrets themselves."""
    return _screened(text)[1]


def _screened(text: str) -> tuple[str, tuple[str, ...]]:
    """The redacted text and the kinds found: each where no earlier kind has been found."""
    lowered = text.lower()
    found: dict[str, None] = {}
    for kind in _KINDS:
        if kind.may_be_in(lowered):
            safe = kind.pattern.sub(partial(_marked, kind), text)
            if safe != text:
                found[kind.name] = None
            text = safe
    return text, tuple(found)


def _marked(kind: _Kind, match: re.Match[str]) -> str:
    group = _group(match)
    if not kind.is_secret(match[group]):
        return match[0]
    begin, end = (place - match.start() for place in match.span(group))
    return f"{match[0][:begin]}[REDACTED:{kind.name}]{match[0][end:]}"


def _group(match: re.Match[str]) -> str | int:
    return "secret" if "secret" in match.re.groupindex else 0


# --- what a secret looks like -----------------------------------------------------------------------------------------

_RUN = re.compile(r"[A-Za-z0-9]{16,}")


def _has_a_random_run(found: str) -> bool:
    """Words joined by hyphens are no key."""
    return any(any(map(str.isdigit, run)) and any(map(str.isalpha, run)) for run in _RUN.findall(found))


def _is_mixed(found: str) -> bool:
    """Letters together with digits or several signs: no word of a language."""
    signs = sum(sign in "!@#$%^&*+=?~|\\_" for sign in found.rstrip(".!?"))
    return len(found) >= 6 and any(map(str.isalpha, found)) and (any(map(str.isdigit, found)) or signs > 1)


def _is_value(found: str) -> bool:
    """Not the name of a variable, a placeholder, or a word that says that there is none."""
    plain = found.strip("*•.x#?")
    if not plain or found[0] in "$%" or plain.casefold() in {"none", "null", "true", "false", "undefined", "required"}:
        return False
    return "environ" not in plain and "getenv" not in plain


def _is_token(found: str) -> bool:
    return any(map(str.isdigit, found)) and any(map(str.isalpha, found)) and _is_value(found) and "/" not in found[:12]


def _is_card(found: str) -> bool:
    """The checksum of Luhn."""
    digits = [int(digit) for digit in reversed(found) if digit.isdigit()]
    doubled = (sum(divmod(2 * digit, 10)) for digit in digits[1::2])
    return (sum(digits[::2]) + sum(doubled)) % 10 == 0


_START = r"(?<![A-Za-z0-9])"
_END = r"(?![A-Za-z0-9])"
_OTHER_SCRIPT = r"\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef"
_VALUE = rf"[^\s\"'`,;<>(){{}}\[\]{_OTHER_SCRIPT}]"
_IS = r"[\"']?\s{0,8}(?:=|:=)\s{0,8}[\"']?"
_IS_SAID = r"[\"']?\s{0,8}(?:[:：＝]|是|为|為|は|\bis\b)\s{0,8}[\"'「“]?"
_PASSWORD = (
    r"(?:passw(?:or)?d|passwort|passphrase|pwd|contraseña|mot de passe|senha|密码|密碼|口令|パスワード|비밀번호)"
)
_TOKEN = r"(?:api|access|auth|secret|private|client|session|refresh)[_ -]?(?:key|token|secret)|secret|token"


def _kinds() -> Iterator[_Kind]:
    key = r"-----(?:BEGIN|END) [A-Z ]{0,30}PRIVATE KEY-----"
    body = r"[^-]*(?:-(?!----)[^-]*)*"
    bare = r"(?:(?:\s|\\n|\\r)*[A-Za-z0-9+/=]{20,})*"
    begin = key.replace("(?:BEGIN|END)", "BEGIN")
    end = key.replace("(?:BEGIN|END)", "END")
    yield _Kind("private_key_pem", ("private key-----",), re.compile(rf"{begin}(?:{body}{end}|{bare})"))
    base64 = r"[A-Za-z0-9_-]"
    jwt = rf"(?<![A-Za-z0-9_-])eyJ{base64}{{5,}}\.{base64}{{5,}}(?:\.{base64}*)?"
    yield _Kind("jwt", ("eyj",), re.compile(jwt))
    for name, hint, pattern in _PREFIXED:
        yield _Kind(name, (hint,), re.compile(pattern))
    for name, pattern in (("anthropic_key", "sk-ant-"), ("openai_project_key", "sk-proj-"), ("openai_key", "sk-")):
        yield _Kind(name, (pattern,), re.compile(rf"{_START}{pattern}[A-Za-z0-9_-]{{20,}}"), _has_a_random_run)
    yield _Kind("url_credentials", ("://",), re.compile(r"://(?P<secret>[^\s:/@?#]{0,256}:[^\s@/]{1,256})@"))
    bearer = r"(?i:bearer)\s{1,4}(?P<secret>[A-Za-z0-9._~+/=-]{16,})"
    yield _Kind("bearer_token", ("bearer",), re.compile(bearer), _is_mixed)
    passwords = ("pass", "pwd", "contraseña", "senha", "密码", "密碼", "口令", "パスワード", "비밀번호")
    assigned = rf"(?i:{_PASSWORD}){_IS}(?P<secret>{_VALUE}{{4,}})"
    yield _Kind("password", passwords, re.compile(assigned), _is_value)
    said = rf"(?i:{_PASSWORD}){_IS_SAID}(?P<secret>{_VALUE}{{6,}})"
    yield _Kind("password", passwords, re.compile(said), lambda found: _is_mixed(found) and _is_value(found))
    given = rf"(?i:{_TOKEN})(?:{_IS}|{_IS_SAID})(?P<secret>{_VALUE}{{12,}})"
    yield _Kind("secret", ("key", "token", "secret"), re.compile(given), _is_token)
    card = (
        r"(?<![\d.-])[3-6]\d{3}(?:[ -]?\d{4}){2}[ -]?\d{4}(?![\d-])|(?<![\d.-])3[47]\d{2}[ -]?\d{6}[ -]?\d{5}(?![\d-])"
    )
    yield _Kind("credit_card", ("",), re.compile(card), _is_card)
    yield _Kind("ssn_us", ("-",), re.compile(r"(?<![\d-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\d-])"))


_PREFIXED = (
    ("aws_access_key", "akia", rf"AKIA[A-Z0-9]{{16}}{_END}"),
    ("aws_session_token", "asia", rf"ASIA[A-Z0-9]{{16}}{_END}"),
    ("braintree_token", "access_token$", r"access_token\$production\$[A-Za-z0-9$]{16,}"),
    ("databricks_token", "dapi", r"dapi[0-9a-f]{32}"),
    ("digitalocean_token", "dop_v1_", r"dop_v1_[0-9a-f]{32,}"),
    ("discord_bot", ".", rf"{_START}[MNO][A-Za-z0-9_-]{{23,25}}\.[A-Za-z0-9_-]{{6}}\.[A-Za-z0-9_-]{{27,}}"),
    ("github_fg_pat", "github_pat_", r"github_pat_[A-Za-z0-9_]{20,}"),
    ("github_token", "gh", r"gh[pousr]_[A-Za-z0-9]{20,}"),
    ("gitlab_pat", "glpat-", r"glpat-[A-Za-z0-9_-]{20,}"),
    ("google_api_key", "aiza", r"AIza[A-Za-z0-9_-]{35}"),
    ("google_oauth_token", "ya29.", r"ya29\.[A-Za-z0-9_-]{20,}"),
    ("groq_key", "gsk_", r"gsk_[A-Za-z0-9]{20,}"),
    ("huggingface_token", "hf_", r"hf_[A-Za-z0-9]{30,}"),
    ("mailgun_key", "key-", rf"{_START}key-[0-9a-f]{{32}}{_END}"),
    ("npm_token", "npm_", r"npm_[A-Za-z0-9]{36}"),
    ("perplexity_key", "pplx-", r"pplx-[A-Za-z0-9]{30,}"),
    ("pypi_token", "pypi-age", r"pypi-AgE[A-Za-z0-9_-]{20,}"),
    ("replicate_token", "r8_", r"r8_[A-Za-z0-9]{30,}"),
    ("sendgrid_key", "sg.", rf"{_START}SG\.[A-Za-z0-9_-]{{16,64}}\.[A-Za-z0-9_-]{{16,}}"),
    ("shopify_token", "shp", r"shp(?:at|ca|pa|ss)_[0-9a-f]{32}"),
    ("slack_token", "xox", r"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("slack_webhook", "hooks.slack.com", r"https://hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]{10,}"),
    ("square_token", "sq0", r"sq0[a-z]{3}-[A-Za-z0-9_-]{22,}"),
    ("stripe_secret", "sk_", r"sk_(?:live|test)_[A-Za-z0-9]{16,}"),
    ("stripe_restricted", "rk_", r"rk_(?:live|test)_[A-Za-z0-9]{16,}"),
    ("telegram_bot", ":", r"(?<!\d)\d{8,10}:[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
    ("twilio_account_sid", "ac", rf"{_START}AC[0-9a-f]{{32}}{_END}"),
    ("twilio_api_key", "sk", rf"{_START}SK[0-9a-f]{{32}}{_END}"),
    ("xai_key", "xai-", rf"{_START}xai-[A-Za-z0-9]{{20,}}"),
)

_KINDS = tuple(_kinds())
