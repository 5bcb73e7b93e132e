"""Finds what looks like a well-known key in a text, and masks it. Pure; a small set of rules, each with its source.

The expressions are those of gitleaks (github.com/gitleaks/gitleaks, config/gitleaks.toml, MIT), for tokens whose own
prefix tells what they are; passwords and other values without a form are not looked for, since every second finding
would be a false alarm.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

PRIVATE_KEY = "private key"
# Name, a text that each such key holds (tried first, since looking for it takes less), the expression.
_RULES: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("AWS access key", ("AKIA", "ASIA", "ABIA", "ACCA", "A3T"), r"\b(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b"),
    ("GitHub token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"\bgh[pousr]_[0-9A-Za-z]{36}\b"),
    ("GitHub token", ("github_pat_",), r"\bgithub_pat_\w{82}\b"),
    ("GitLab token", ("glpat-",), r"\bglpat-[\w-]{20}\b"),
    ("Slack token", ("xoxb-", "xoxp-", "xoxa-", "xoxe-", "xoxr-", "xoxs-"), r"\bxox[abeprs]-[0-9][0-9A-Za-z-]{20,}"),
    ("Slack webhook", ("hooks.slack.com/",), r"hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{43,56}"),
    ("Google API key", ("AIza",), r"\bAIza[\w-]{35}(?![\w-])"),
    ("Stripe key", ("k_live_", "k_prod_"), r"\b[sr]k_(?:live|prod)_[0-9A-Za-z]{10,99}\b"),
    ("OpenAI key", ("T3BlbkFJ",), r"\bsk-(?:[\w-]{1,20}-)?[\w-]{20,80}T3BlbkFJ[\w-]{20,80}"),
    ("Anthropic key", ("sk-ant-",), r"\bsk-ant-(?:api03|admin01)-[\w-]{93}AA\b"),
    ("npm token", ("npm_",), r"\bnpm_[0-9A-Za-z]{36}\b"),
    ("PyPI token", ("pypi-AgEIcHlwaS5vcmc",), r"\bpypi-AgEIcHlwaS5vcmc[\w-]{50,1000}"),
    ("SendGrid key", ("SG.",), r"\bSG\.[\w-]{22}\.[\w-]{43}\b"),
    (
        PRIVATE_KEY,
        ("PRIVATE KEY",),
        # From the line that begins it to the one that ends it, or to where the text is cut; and what such a cut left.
        r"-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----\s+(?=[^-]{40})"
        r"(?:(?!-----END)[\s\S])*(?:-----END[ A-Z0-9_-]{0,100}-----)?"
        r"|\A[A-Za-z0-9+/=\s]{40,}-----END[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----",
    ),
)
# Keys that their makers print in manuals.
_EXAMPLES = re.compile(r"EXAMPLE|([A-Za-z0-9])\1{7}|0123456789|1234567890")


# What an index run looks for: each text is one more pass over all that is read, and these find nearly all.
_COMMON = (
    b"AKIA", b"ASIA", b"ghp_", b"github_pat_", b"glpat-", b"xox", b"AIza", b"_live_", b"T3BlbkFJ", b"sk-ant-",
    b"PRIVATE KEY",
)  # fmt: skip


class Finding(NamedTuple):
    """What looks like a secret: which kind, and where it stands in the text."""

    kind: str
    start: int
    end: int


def findings(text: str) -> Iterator[Finding]:
    """Everything in a text that looks like a well-known key, kind by kind."""
    for number, (kind, prefixes, _) in enumerate(_RULES):
        if any(prefix in text for prefix in prefixes):
            for match in _expression(number).finditer(text):
                if kind == PRIVATE_KEY or not _EXAMPLES.search(match[0]):
                    yield Finding(kind, *match.span())


def masked(text: str) -> str:
    """The text with each such key replaced by what it is; its lines keep their numbers."""
    found = sorted(findings(text), key=lambda finding: (finding.start, -finding.end))
    if not found:
        return text
    pieces, at = [], 0
    for finding in found:
        if finding.start >= at:
            lines = text.count("\n", finding.start, finding.end)
            pieces += [text[at : finding.start], f"[masked: {finding.kind}]" + "\n" * lines]
            at = finding.end
    return "".join([*pieces, text[at:]])


def told(text: str) -> str:
    """One line on what looks like secrets in a text: kinds and lines; '' where it has none of the commonest."""
    data = text.encode("utf-8", "replace")
    if not any(common in data for common in _COMMON):
        return ""
    found: dict[str, int] = {}
    for finding in findings(text):
        line = text.count("\n", 0, finding.start) + 1
        found[finding.kind] = min(found.get(finding.kind, line), line)
    named = ", ".join(f"{kind} in line {line}" for kind, line in sorted(found.items()))
    return f"looks as if it held a secret ({named}); prompts mask it" if named else ""


@cache
def _expression(number: int) -> re.Pattern[str]:
    return re.compile(_RULES[number][2])
