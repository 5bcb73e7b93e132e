"""Files of secrets stay out of an index, and keys inside other files out of prompts, unless their user says so."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragcli.config.options import STANDARD, IndexOptions
from ragcli.errors import SourceRejectedError
from ragcli.model import DocumentFormat
from ragcli.text.secrets import findings, masked, told
from tests.bounded import bounded
from tests.cases import run
from tests.engine import index, service, write

KEY = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEowIBAAKCAQEAx1y2z3zqkeyzqkeyzqkeyzqkeyAbCdEfGhIjKlMnOpQrStUv\n" * 4
KEY += "-----END RSA PRIVATE KEY-----\n"
CERTIFICATE = (
    "-----BEGIN CERTIFICATE-----\nMIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBa zqcert\n-----END CERTIFICATE-----\n"
)
_SECRET_FILES = """
.env .env.local .envrc prod.env app/staging.env .netrc _netrc .npmrc .pypirc .git-credentials .npmrc.bak id_rsa
id_ed25519 id_rsa.bak id_rsa.old deploy_rsa github_ed25519 id_ecdsa_sk ssh_host_rsa_key .htpasswd .htdigest .pgpass
pgpass.conf .my.cnf .mylogin.cnf .dockercfg .docker/config.json kubeconfig kubeconfig.yaml prod.kubeconfig
credentials .gem/credentials .cargo/credentials.toml credentials.json credentials.csv rootkey.csv .s3cfg .boto
client_secret.json client_secret_1234.apps.json client_secrets.json service-account.json service_account_prod.json
app-credentials.json application_default_credentials.json accessTokens.json terraform.tfstate
terraform.tfstate.backup prod.tfstate terraform.tfvars prod.tfvars prod.auto.tfvars.json .terraformrc .vault-token
.vault_pass master.key secrets.yaml secrets.yml secrets.json secrets.toml secrets.prod.yaml db-secrets.yaml
secret.yaml .secrets .credentials .bash_history .zsh_history .mysql_history .psql_history .python_history
.node_repl_history .rediscli_history .config/gh/hosts.yml .config/hub .ftpconfig sftp-config.json recentservers.xml
sitemanager.xml .muttrc .msmtprc wallet.kdbx store.jks release.keystore cert.p12 cert.pfx putty.ppk office.ovpn
secring.gpg ID_RSA Secrets.YAML .ENV
"""
SECRET_FILES = _SECRET_FILES.split()
_ORDINARY_FILES = """
id_rsa.pub README.md env.py environment.ts dotenv.md secrets.md secrets.py credentials.py credentials_test.go
keys.json config.json config/docker.json hosts.yml history.md kube.yaml service.json accounts.ts tfstate.md key.txt
pem.py master.ts token.go secret_santa.txt rsa.py envelope.txt .editorconfig .prettierrc netrc.md
"""
ORDINARY_FILES = _ORDINARY_FILES.split()


def listed(root: Path, **options: object) -> set[str]:
    rag = service()
    index(rag, root, IndexOptions(limits=STANDARD, **options))  # type: ignore[arg-type]
    return {info.file for info in rag.list_files()}


def test_files_whose_names_say_that_they_hold_secrets_are_left_out(tmp_path: Path) -> None:
    names = dict.fromkeys([*SECRET_FILES, *ORDINARY_FILES], "zqsecret: value\n")
    names |= {f".config/deep/{name}": "zqsecret\n" for name in ("prod.env", ".pgpass")}
    tree = write(tmp_path / "tree", dict(names))

    assert listed(tree) == set(ORDINARY_FILES)
    write(tree, {".tnsignore": "".join(f"!{name}\n" for name in SECRET_FILES), ".gitignore": "!*\n"})
    assert listed(tree) == set(ORDINARY_FILES), "no ignore file brings them back"
    assert listed(tree, default_skips=False, ignore_files=False) == set(ORDINARY_FILES)
    # What is left of the list has names of formats that are not read.
    assert set(SECRET_FILES) - listed(tree, allow_secrets=True) <= {"ID_RSA"}


@pytest.mark.parametrize("name", ["tls.pem", "tls.key", "signing.asc", "server.KEY"])
def test_what_a_name_is_too_broad_for_is_judged_by_content(tmp_path: Path, name: str) -> None:
    tree = write(tmp_path / "tree", {name: f"some text\n{KEY}", f"other/{name}": CERTIFICATE, "a.txt": "zqa\n"})

    assert listed(tree, format=DocumentFormat.TEXT) == {"a.txt", f"other/{name}"}
    assert name in listed(tree, format=DocumentFormat.TEXT, allow_secrets=True)


def test_a_hard_link_to_a_secret_is_a_secret(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree", {".env": "TOKEN=zqtoken\n", "b.txt": "zqother\n", "sub/c.txt": "zqlinked\n"})
    os.link(tree / ".env", tree / "a.txt")
    os.link(tree / ".env", tree / "sub" / "z.txt")
    os.link(tree / "sub" / "c.txt", tree / "d.txt")

    assert listed(tree) == {"b.txt", "sub/c.txt", "d.txt"}
    assert {"a.txt", ".env"} <= listed(tree, allow_secrets=True)


def test_one_file_that_is_named_is_refused_with_the_way_to_have_it(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree", {"prod.env": "zqtoken\n", ".docker/config.json": "{}"})
    for name in ("prod.env", ".docker/config.json"):
        with pytest.raises(SourceRejectedError, match="holds secrets") as caught:
            index(service(), tree / name)
        assert "--allow-secrets" in caught.value.hint
    index(service(), tree / "prod.env", IndexOptions(limits=STANDARD, allow_secrets=True))


def test_only_the_user_allows_secrets_and_the_session_remembers_it(tmp_path: Path) -> None:
    tree = write(tmp_path / "tree", {"prod.env": "zqtoken\n", "a.txt": "zqa\n"})
    data = tmp_path / "data"
    assert run("index", str(tree), "--allow-secrets", data=data).code == 0
    assert run("index", data=data, cwd=tree).code == 0
    assert run("search", "zqtoken", data=data, cwd=tree).code == 0
    assert run("index", "--no-allow-secrets", data=data, cwd=tree).code == 0
    assert run("search", "zqtoken", data=data, cwd=tree).code == 1
    (tree / "ragcli.toml").write_text("allow_secrets = true\n")
    done = run("index", data=data, cwd=tree)
    assert done.code == 2 and "cannot set allow_secrets" in done.err


# Of the right form, and nobody's: put together here so that no scanner takes this file for a leak.
KEYS = {
    "AWS access key": "AKIA" + "Q7RT5ZK2WXNB4LMJ",
    "GitHub token": "ghp" + "_" + "aB3dE5fG7hI9jK1lM2nO4pQ6rS8tU0vW2xY4",
    "GitLab token": "glpat" + "-" + "xY3zA5bC7dE9fG1hI2jK",
    "Slack token": "xoxb" + "-" + "2345678901234-4567890123456-aBcDeFgHiJkLmNoPqRsTuVwX",
    "Google API key": "AIza" + "SyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY",
    "Stripe key": "sk_live" + "_" + "4eC39HqLyjWDarjtT1zdp7dc",
    "npm token": "npm" + "_" + "aB3dE5fG7hI9jK1lM2nO4pQ6rS8tU0vW2xY4",
    "SendGrid key": "SG" + ".ngeVfQFYQlKU0ufo8x5d1A.TwL2iGABf9DHoTf-09kqeF8tAmbihYzrnopKc-1s5cr",
    "private key": KEY,
}


@pytest.mark.parametrize("kind", KEYS)
def test_well_known_keys_are_told_by_index_and_masked_in_prompts(tmp_path: Path, kind: str) -> None:
    key = KEYS[kind]
    text = f"zqconfig first\nzqconfig token = '{key}'\nzqconfig last line\n"
    tree, data = write(tmp_path / "tree", {"config.py": text}), tmp_path / "data"

    told_ = run("index", str(tree), data=data).err
    prompt = run("prompt", "zqconfig", data=data, cwd=tree).out.decode()
    plain = run("prompt", "zqconfig", "--allow-secrets", data=data, cwd=tree).out.decode()

    assert (f"config.py: looks as if it held a secret ({kind} in line 2)" in told_) == (
        kind not in ("npm token", "SendGrid key")
    )
    assert key.strip() not in prompt and f"[masked: {kind}]" in prompt
    assert "zqconfig first" in prompt and "zqconfig last line" in prompt
    assert key.strip() in plain


def test_a_key_that_a_chunk_cuts_is_masked_on_both_sides() -> None:
    lines = KEY.splitlines(keepends=True)
    for cut in range(1, len(lines)):
        for part in ("".join(lines[:cut]), "".join(lines[cut:])):
            assert "zqkey" not in masked(part), cut


def test_masking_keeps_the_lines_where_they_are() -> None:
    text = f"a\n{KEY}b\n"

    assert masked(text).count("\n") == text.count("\n")


@given(st.text(max_size=300))
def test_ordinary_text_is_neither_masked_nor_told(text: str) -> None:
    assert masked(text) == text
    assert told(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        "AKIAIOSFODNN7EXAMPLE", "AKIA1234", "aws_access_key_id = YOUR_KEY", "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "-----BEGIN CERTIFICATE-----\nMIIC\n-----END CERTIFICATE-----", "-----BEGIN PUBLIC KEY-----\nMIIB",
        "npm_config_cache",
        "sk_test_4eC39HqLyjWDarjtT1zdp7dc", "a line that says PRIVATE KEY and no more", "xoxb-your-token",
        "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----",
    ],
)  # fmt: skip
def test_what_manuals_print_is_no_finding(text: str) -> None:
    assert list(findings(text)) == []


def test_a_text_made_to_be_slow_is_read_in_the_time_of_any_other(tmp_path: Path) -> None:
    """A million beginnings of keys, with no end."""
    parts = [
        "-----BEGIN RSA PRIVATE KEY-----\n",
        "A" * 40 + "\n",
        "xoxb-1",
        "AIza",
        "sk-ant-api03-",
        "SG.",
        "T3BlbkFJ",
        "sk-",
    ]
    tree = write(tmp_path / "tree", {f"f{n}.txt": part * (1_000_000 // len(part)) for n, part in enumerate(parts)})
    write(tree, {"all.txt": "".join(parts) * 10_000})

    done = bounded("index", str(tree), "--workers", "0", data=tmp_path / "data", cwd=tmp_path, memory=2**31, cpu=40)
    assert done.code == 0
    assert bounded("prompt", "BEGIN PRIVATE KEY", data=tmp_path / "data", cwd=tree).code == 0
