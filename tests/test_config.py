"""Settings: which layer wins, what each error names, how far a project's file may go, what a search pays."""

import os
import subprocess
import sys

import pytest
from hypothesis import given as forall
from hypothesis import strategies as st

from ragcli.config.files import user_directory
from ragcli.config.keys import KEYS
from ragcli.config.options import MIB, PROFILES, STANDARD, STRICT, IndexOptions, Limits
from ragcli.config.resolve import data_directory, entries, given, index_options, resolve
from ragcli.errors import UsageError
from ragcli.model import DocumentFormat


@pytest.fixture
def home(tmp_path):
    """An environment with an empty home, `write(name, text)` for files in it, and a project directory."""
    return Home(tmp_path)


class Home:
    def __init__(self, path):
        self.environ = {"HOME": str(path / "home"), "RAGCLI_CONFIG": str(path / "config.toml")}
        self.root = str(path / "project")
        os.makedirs(self.root)
        self.user_file = path / "config.toml"
        self.user_file.write_text("")

    def user(self, text):
        self.user_file.write_text(text)
        return self

    def project(self, text, name="ragcli.toml"):
        with open(os.path.join(self.root, name), "w") as file:
            file.write(text)
        return self

    def resolve(self, flags=None, **environ):
        return resolve(flags or {}, self.environ | environ, self.root)

    def error(self, flags=None, **environ):
        with pytest.raises(UsageError) as caught:
            self.resolve(flags, **environ)
        assert "\n" not in caught.value.message
        return caught.value


def test_defaults_without_any_file_or_variable():
    settings = resolve({}, {"HOME": "/nonexistent"})

    assert (settings.k, settings.prompt_k, settings.max_tokens, settings.max_per_file) == (10, 5, None, 3)
    assert (settings.signals, settings.color, settings.progress, settings.wait) == (True, "auto", "auto", 10.0)
    assert (settings.session, settings.data_dir, settings.profile) == ("", "", "standard")
    assert index_options(settings) == IndexOptions(limits=STANDARD)
    assert 1 <= settings.workers <= 8
    assert set(settings.origins.values()) == {"default"}


def test_each_layer_beats_those_below_and_is_named(home):
    home.user("k = 1\nprompt_k = 1\nmax_per_file = 1\nwait = 1").project("k = 2\nprompt_k = 2\nmax_per_file = 2")

    settings = home.resolve({"k": 4}, RAGCLI_K="3", RAGCLI_PROMPT_K="3")

    assert (settings.k, settings.prompt_k, settings.max_per_file, settings.wait) == (4, 3, 2, 1.0)
    assert settings.origins["k"] == "command line"
    assert settings.origins["prompt_k"] == "RAGCLI_PROMPT_K"
    assert settings.origins["max_per_file"] == f"{home.root}/ragcli.toml:3"
    assert settings.origins["wait"] == f"{home.user_file}:4"
    assert given(settings, "wait")
    assert not given(settings, "signals")


def test_flags_that_are_not_given_decide_nothing(home):
    home.user('include = ["*.py"]')

    settings = home.resolve({"k": None, "include": [], "exclude": ()})

    assert settings.include == ("*.py",)
    assert settings.origins["k"] == "default"


def test_pyproject_counts_where_there_is_no_project_file(home):
    home.project('[project]\nname = "x"\n\n[tool.ragcli]\nk = 7\nlimit.max_files = 9\n', "pyproject.toml")

    from_pyproject = home.resolve()
    home.project("prompt_k = 2")
    from_ragcli = home.resolve()

    assert (from_pyproject.k, from_pyproject.limits.max_files) == (7, 9)
    assert from_pyproject.origins["k"].endswith("pyproject.toml:5")
    assert (from_ragcli.k, from_ragcli.prompt_k) == (10, 2)


def test_a_broken_pyproject_without_our_table_is_not_our_matter(home):
    home.project("[broken", "pyproject.toml")

    assert home.resolve().k == 10


def test_variables_are_read_as_what_they_set(home):
    settings = home.resolve(
        RAGCLI_SIGNALS="off",
        RAGCLI_WAIT="2.5",
        RAGCLI_EXCLUDE="*.po, docs/**",
        RAGCLI_FORMAT="markdown",
        RAGCLI_LIMIT_MAX_RAW_TEXT="2MiB",
        RAGCLI_WORKERS="0",
        RAGCLI_SESSION="",
    )

    assert (settings.signals, settings.wait, settings.exclude) == (False, 2.5, ("*.po", "docs/**"))
    assert (settings.format, settings.workers, settings.session) == (DocumentFormat.MARKDOWN, 0, "")
    assert settings.limits == STANDARD._replace(max_raw_text=2 * MIB)
    assert settings.origins["session"] == "default"


@pytest.mark.parametrize(
    ("text", "where", "said", "hint"),
    [
        ("k = 5\nmax_tokns = 9", ":2: ", "unknown setting 'max_tokns'", "did you mean max_tokens?"),
        ("[limit]\nmax_file = 9", ":2: ", "unknown setting 'limit.max_file'", "did you mean limit.max_files?"),
        ("\nk = '5'", ":2: k ", "must be a whole number of 1 or more, not '5'", ""),
        ("k = true", ":1: k ", "must be a whole number", ""),
        ("k = 0", ":1: k ", "must be a whole number", ""),
        ("wait = nan", ":1: wait ", "must be a number of seconds", ""),
        ("signals = 1", ":1: signals ", "must be true or false", ""),
        ("signals = 'blue'", ":1: signals ", "must be true or false", ""),
        ("include = [1]", ":1: include ", "must be a list of patterns", ""),
        ("format = 'DOC'", ":1: format ", "must be one of AUTO, TEXT", ""),
        ("limit = { max_files = 0 }", ":1: limit.max_files ", "must be a whole number", ""),
        ("[limit]\n\n# c\nmax_chunk_bytes = '1MiB'", ":4: ", "from 4 to 16384", ""),
        ("limits = 'loose'", ":1: limits ", "must be one of strict, standard", ""),
        ("a = 1\nb = \n", ":2: ", "Invalid value", "the file must be TOML"),
        ("k = [1,\n", ":2: ", "Invalid value", "the file must be TOML"),
        ("k = 1\nk = 2", ":2: ", "Cannot overwrite a value", "the file must be TOML"),
        ("k = " + "9" * 5000, ":1: ", "Exceeds the limit", "the file must be TOML"),
        ("k = " + "[" * 5000, ": ", "nested too deeply", ""),
        ('"\\u001b[31m" = 1', ":1: ", r"unknown setting '\x1b[31m'", ""),
    ],
)
def test_a_bad_file_names_itself_the_line_and_what_would_be_right(home, text, where, said, hint):
    error = home.user(text).error()
    assert error.message.startswith(f"{home.user_file}{where}")
    assert said in error.message
    assert hint in error.hint
    of_tree = home.user("").project(text)
    if hint == "the file must be TOML" or "nested" in said:
        # What a tree brings along may be another tool's: it is told, and ends no command.
        [notice] = of_tree.resolve().notices
        assert notice.startswith(f"{home.root}/ragcli.toml{where}") and notice.endswith("; the file is left out")
    else:
        assert of_tree.error().message.startswith(f"{home.root}/ragcli.toml{where}")


def test_a_bad_variable_or_flag_names_itself(home):
    assert home.error(RAGCLI_K="ten").message == "RAGCLI_K must be a whole number of 1 or more, not 'ten'"
    assert home.error(RAGCLI_SIGNALS="maybe").message.startswith("RAGCLI_SIGNALS must be true or false")
    assert home.error({"max_per_file": 0}).message.startswith("--max-per-file must be a whole number")
    assert home.error({"limit.max_chunk_bytes": 3}).message.startswith(
        "--max-chunk-bytes must be a whole number from 4"
    )
    assert home.error({"limit.max_files": "many"}).message.startswith("--max-files must be a whole number")
    assert home.error({"limit.max_fils": 3}).hint == "did you mean limit.max_files?"


def test_a_misspelled_variable_is_noticed_and_a_foreign_one_is_not(home):
    settings = home.resolve(RAGCLI_WORKER="3", RAGCLI_ZZZZZZ="3")

    assert settings.notices == ("RAGCLI_WORKER is not a setting; did you mean RAGCLI_WORKERS?",)


@pytest.mark.parametrize("line", ["data_dir = '/tmp/x'", "session = 'other'", "workers = 64", "workers = 0"])
def test_a_project_file_cannot_decide_for_the_machine(home, line):
    """Nor may it turn the workers off, in which a document's time and memory are bounded."""
    error = home.project(f"k = 3\n{line}").error()

    assert error.message.startswith(f"{home.root}/ragcli.toml:2: a project file cannot set")


@pytest.mark.parametrize("pattern", ["../**", "a/../../b", "..", "a\\\\..\\\\..\\\\b"])
def test_a_project_file_cannot_lead_out_of_the_tree(home, pattern):
    assert "leads out of the tree" in home.project(f'include = ["{pattern}"]').error().message


def test_a_project_file_lowers_limits_and_cannot_raise_them(home):
    home.project("[limit]\nmax_files = 10\nmax_entries = 9_000_000\nextraction_seconds = 99")

    settings = home.resolve()

    assert settings.limits == STANDARD._replace(max_files=10)
    assert len(settings.notices) == 2
    assert "ragcli.toml:3: limit.max_entries = 9000000 is not taken" in settings.notices[0]


def test_a_project_profile_cannot_widen_the_user_s(home):
    widened = home.user("limits = 'strict'").project("limits = 'standard'").resolve()
    narrowed = home.user("").project("limits = 'strict'").resolve()

    assert (widened.limits, widened.profile) == (STRICT, "strict")
    assert "raises no limit" in widened.notices[0]
    assert (narrowed.limits, narrowed.profile, narrowed.notices) == (STRICT, "strict", ())


limit_layers = st.dictionaries(
    st.sampled_from(["limits", *(f"limit.{name}" for name in Limits._fields)]), st.integers(4, 16_384), max_size=5
).map(lambda layer: layer | ({"limits": "strict" if layer["limits"] % 2 else "standard"} if "limits" in layer else {}))


@forall(limit_layers, limit_layers)
def test_whatever_a_project_file_says_no_limit_rises(tmp_path_factory, user, project):
    home = Home(tmp_path_factory.mktemp("limits"))

    def text(layer):
        return "\n".join(f"{name} = {value!r}" for name, value in layer.items())

    without = home.user(text(user)).resolve().limits
    home.project(text(project))
    with_file = home.resolve()

    assert all(new <= old for new, old in zip(with_file.limits, without, strict=True))
    for name, value in project.items():
        if name != "limits":
            assert getattr(with_file.limits, name.removeprefix("limit.")) <= value


def test_a_profile_replaces_the_numbers_below_it_and_not_its_own(home):
    home.user("limit.max_files = 7\nlimits = 'strict'")

    own = home.resolve()
    replaced = home.resolve({"limits": "standard", "limit.max_depth": 3})

    assert own.limits == STRICT._replace(max_files=7)
    assert replaced.limits == STANDARD._replace(max_depth=3)
    assert replaced.origins["limit.max_files"] == "command line"


def test_a_project_file_that_is_no_plain_file_is_not_read(home):
    """A link could show what lies outside the tree, a pipe would never end."""
    outside = home.user_file.with_name("outside.toml")
    outside.write_text("secret = 1")
    link = os.path.join(home.root, "ragcli.toml")
    os.symlink(outside, link)
    linked = home.resolve()
    os.unlink(link)
    os.mkfifo(link)
    piped = home.resolve()
    os.unlink(link)
    home.project("#" * 300_000)
    large = home.resolve()

    assert linked.notices == (f"{link} is not read: a symbolic link",)
    assert piped.notices == (f"{link} is not read: not a regular file",)
    assert large.notices == (f"{link} is not read: larger than 16 KiB",)


@forall(st.binary(max_size=60))
def test_any_bytes_as_a_file_are_settings_or_one_clear_error(tmp_path_factory, raw):
    home = Home(tmp_path_factory.mktemp("bytes"))
    home.user_file.write_bytes(raw)

    try:
        settings = home.resolve()
    except UsageError as error:
        assert error.message.startswith(str(home.user_file))
        assert "\n" not in error.message
    else:
        assert settings.k >= 1


def test_the_user_file_is_where_the_platform_says(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "conf"))
    directory = user_directory("config", os.environ)
    os.makedirs(directory)
    with open(os.path.join(directory, "config.toml"), "wb") as file:
        file.write(b"\xef\xbb\xbfk = 3\r\n")

    assert resolve({}, dict(os.environ)).k == 3


def test_a_named_file_must_exist(home):
    error = home.error(RAGCLI_CONFIG="/no/such/file.toml")

    assert error.message == "RAGCLI_CONFIG names /no/such/file.toml, which does not exist"
    assert "cannot read" in home.error(RAGCLI_CONFIG=home.root).message
    assert resolve({}, {"RAGCLI_CONFIG": os.devnull}).k == 10


def test_the_data_directory_is_absolute_and_relative_to_who_named_it(home, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    home.user("data_dir = 'mine'")

    assert home.resolve().data_dir == str(tmp_path / "mine")
    assert home.resolve(RAGCLI_DATA_DIR="there").data_dir == str(tmp_path / "there")
    assert home.resolve({"data_dir": "here/../it"}).data_dir == str(tmp_path / "it")


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"XDG_DATA_HOME": "/x/data/", "XDG_CONFIG_HOME": "/x/config"},
        {"XDG_DATA_HOME": "relative", "XDG_CONFIG_HOME": ""},
        {"HOME": "/"},
        {"HOME": "/nonexistent"},
        {"HOME": "/home/some one//"},
        {"HOME": "relative"},
        {"HOME": ""},
        {"HOME": None},
        {"HOME": None, "XDG_DATA_HOME": "/only/this"},
    ],
)
def test_user_directories_are_those_of_platformdirs(monkeypatch, changes):
    import platformdirs

    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in changes.items():
        if value is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, value)

    assert user_directory("data", os.environ) == platformdirs.user_data_dir("ragcli", appauthor=False)
    assert user_directory("config", os.environ) == platformdirs.user_config_dir("ragcli", appauthor=False)


def test_without_any_home_the_error_comes_when_a_directory_is_needed_and_names_the_variable(monkeypatch):
    import platformdirs

    def lost(*args, **kwargs):
        raise RuntimeError("no home")

    monkeypatch.setattr(platformdirs, "user_data_dir", lost)
    monkeypatch.setattr(platformdirs, "user_config_dir", lost)

    settings = resolve({}, {})

    assert entries(settings, {})[0].key == "k"
    assert data_directory(settings._replace(data_dir="/given"), {}) == "/given"
    with pytest.raises(UsageError) as caught:
        data_directory(settings, {})
    assert "RAGCLI_DATA_DIR" in caught.value.hint


def test_entries_list_every_key_once_with_value_and_origin(home):
    listed = entries(home.project("limit.max_depth = 5").resolve({"k": 2}), home.environ)

    assert [entry.key for entry in listed] == list(KEYS)
    shown = {entry.key: entry for entry in listed}
    assert shown["k"] == ("k", 2, "command line")
    assert shown["limit.max_depth"] == ("limit.max_depth", 5, f"{home.root}/ragcli.toml:1")
    assert shown["data_dir"].value.endswith("/home/.local/share/ragcli")
    assert shown["limits"].value in PROFILES


def test_settling_settings_without_files_imports_nothing_heavy(home):
    code = (
        "import sys; before = set(sys.modules); from ragcli.config.resolve import resolve, data_directory; "
        "environ = {'HOME': '/nonexistent', 'RAGCLI_WAIT': '1'}; "
        "data_directory(resolve({'k': 3}, environ, '/nonexistent'), environ); "
        "print(*sorted(set(sys.modules) - before))"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    loaded = set(done.stdout.split())
    assert "ragcli.config.resolve" in loaded
    assert not loaded & {"tomllib", "platformdirs", "pathlib", "difflib", "dataclasses", "hashlib"}
