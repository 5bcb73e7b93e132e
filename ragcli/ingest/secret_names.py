"""Names of files that hold secrets: never indexed, unless the user says `--allow-secrets`. Names are in lower case.

The tables follow, besides the project's own first list: the signatures of gitrob (github.com/michenriksen/gitrob), the
ignore templates of github.com/github/gitignore (`*.tfstate`, `*.tfvars`, `*.pem`), and the manuals of the programs that
write the files. `.pem` and `.key` are judged by content: a certificate or a public key is no secret.
"""

import re
from fnmatch import translate
from functools import cache

# The program whose file it is, and what it is called.
EXACT = {
    "first list": ".env .git-credentials .netrc .npmrc .pypirc id_dsa id_ecdsa id_ed25519 id_rsa",
    "ssh": "id_ecdsa_sk id_ed25519_sk ssh_host_rsa_key ssh_host_dsa_key ssh_host_ecdsa_key ssh_host_ed25519_key",
    "direnv": ".envrc",
    "curl": "_netrc",
    "postgresql": ".pgpass pgpass.conf",
    "mysql": ".my.cnf .mylogin.cnf",
    "apache": ".htpasswd .htdigest",
    "kubernetes": "kubeconfig",
    "docker": ".dockercfg .dockerconfigjson",
    "aws, s3cmd, boto": ".s3cfg .boto credentials aws_credentials accesskeys.csv rootkey.csv credentials.csv",
    "google cloud": "credentials.json client_secret.json client_secrets.json application_default_credentials.json "
    "service-account.json service_account.json serviceaccount.json service-account-key.json",
    "azure": "accesstokens.json",
    "terraform": "terraform.tfstate terraform.tfstate.backup terraform.tfvars .terraformrc terraform.rc",
    "vault, ansible, rails": ".vault-token .vault_pass vault_pass.txt master.key secret_token.rb",
    "generic": "secrets.yaml secrets.yml secrets.json secrets.toml secrets.env secret.yaml secret.yml secret.json "
    "secrets.ini secrets.properties .secrets .credentials",
    "cargo": "credentials.toml",
    "file transfer": ".ftpconfig .remote-sync.json sftp-config.json sftp.json recentservers.xml sitemanager.xml",
    "shells and consoles": ".bash_history .zsh_history .sh_history .ash_history .history .fish_history fish_history "
    ".mysql_history .psql_history .sqlite_history .rediscli_history .dbshell .mongo_history .python_history "
    ".irb_history .pry_history .node_repl_history .lesshst .viminfo",
    "mail": ".muttrc .msmtprc .fetchmailrc",
    "gnupg": "secring.gpg",
}
GLOBS = {
    "first list": ".env.*",
    "environments": "*.env",
    "ssh": "id_rsa.* id_dsa.* id_ecdsa.* id_ed25519.* id_rsa-* id_rsa_* id_ed25519_* id_ed25519-* *_rsa *_dsa "
    "*_ed25519 *_ecdsa",
    "copies": ".netrc.* .npmrc.* .pypirc.* .pgpass.* .htpasswd.* .git-credentials.* kubeconfig.* *.kubeconfig",
    "google cloud": "client_secret*.json service-account*.json service_account*.json *-credentials.json "
    "*_credentials.json gcp-key*.json",
    "terraform": "*.tfstate *.tfstate.* *.tfvars *.tfvars.json",
    "generic": "secrets.*.yaml secrets.*.yml secrets.*.json *.secrets.yaml *.secrets.yml *.secret.yaml *-secrets.yaml "
    "*-secrets.yml",
    "containers of keys": "*.p12 *.pfx *.jks *.keystore *.kdb *.kdbx *.ppk *.pkcs12 *.agilekeychain *.keychain *.ovpn",
}
# `id_rsa.pub` is made to be shown; templates of settings hold none.
NOT_SECRET = (".pub",)
# A directory and the file in it that is one, where the name alone says nothing.
PATHS = {
    ".docker/config.json", ".gem/credentials", ".cargo/credentials", ".config/gh/hosts.yml", ".config/hub",
    ".composer/auth.json", ".m2/settings-security.xml", ".subversion/auth", ".purple/accounts.xml", ".irssi/config",
}  # fmt: skip
# Left out where they hold a private key, whatever else they hold.
JUDGED = (".pem", ".key", ".asc", ".gpg", ".pkcs8", ".priv", ".der")
PRIVATE_KEY = re.compile(rb"-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----")

_EXACT = frozenset(name for names in EXACT.values() for name in names.split())
_GLOBS = tuple(glob for globs in GLOBS.values() for glob in globs.split())
_STARTS = tuple(glob.partition("*")[0] for glob in _GLOBS if not glob.startswith("*"))
_INSIDE = ".tfstate."
_ENDS = tuple(glob.rpartition("*")[2] for glob in _GLOBS if glob.startswith("*") and not glob.endswith("*"))


@cache
def _glob() -> re.Pattern[str]:
    return re.compile("|".join(f"({translate(glob)})" for glob in _GLOBS))


def secret_rule(name: str) -> str:
    """Name the rule that makes a file of this name a secret; '' when none does."""
    lower = name.lower()
    if lower in _EXACT:
        return lower
    # Every file of a tree comes by: nearly all of them need no expression.
    if not (lower.startswith(_STARTS) or lower.endswith(_ENDS) or _INSIDE in lower) or lower.endswith(NOT_SECRET):
        return ""
    found = _glob().match(lower)
    return _GLOBS[found.lastindex - 1] if found and found.lastindex else ""


def secret_path_rule(path: str) -> str:
    """The same for a file by its path below the root, where the directory is a part of the name."""
    lower = path.lower()
    return next((rule for rule in PATHS if lower == rule or lower.endswith(f"/{rule}")), "")


def holds_key(name: str, raw: bytes) -> bool:
    """Whether a file whose name is too broad to judge by holds a private key."""
    return name.lower().endswith(JUDGED) and PRIVATE_KEY.search(raw) is not None
