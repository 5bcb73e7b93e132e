"""The values of declared knowledge: sources, entries, actions, roles and agents. Reads nothing.

A member that was not given is None (or empty); what stands in its place is decided where it is used.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from ragcli.model import DocumentFormat

DEFAULT_AGENT = "default"
CHAT = "chat"
DEFAULT_TOP_K = 5


class SourceType(StrEnum):
    """Where a source's documents come from; memory and graph load nothing."""

    FILE = "file"
    URL = "url"
    DATABASE = "database"
    MEMORY = "memory"
    GRAPH = "graph"


LOADED = (SourceType.FILE, SourceType.URL, SourceType.DATABASE)


class Use(StrEnum):
    """How a source reaches the model: ranked for a query, as a whole, or one chunk a call in order."""

    SEARCH = "search"
    DIRECT = "direct"
    SEQUENTIAL = "sequential"


class Strategy(StrEnum):
    """How a search ranks. Without vectors hybrid is the fusion of the keyword streams."""

    KEYWORD = "keyword"
    SEMANTIC = "semantic"
    HYBRID = "hybrid"


class When(StrEnum):
    """Whether a source is used as declared, or only where a higher layer gives it another location."""

    ALWAYS = "always"
    CONFIGURED = "configured"


class OnFailure(StrEnum):
    """What an action does when one of its sources fails."""

    FAIL = "fail"
    CONTINUE = "continue"


class Layer(StrEnum):
    """What gave a member, from the lowest precedence to the highest."""

    DECLARATION = "declaration"
    CONFIG_FILE = "config file"
    RUN_FILE = "run file"
    PROGRAM = "program"
    ACTION = "action"


class Origin(NamedTuple):
    """Where a member was given. `base` is the directory that its relative path counts from; `root` is the tree that it
    may not leave, '' where the user's own file or program gave it."""

    layer: Layer
    file: str
    key: str
    base: str = ""
    root: str = ""

    def below(self, *steps: str) -> "Origin":
        """The origin of a key further down."""
        return self._replace(key=".".join([self.key, *steps] if self.key else steps))


PROGRAM = Origin(Layer.PROGRAM, "program", "")


class SearchSettings(NamedTuple):
    """How sources are searched; None is "not given". `min_score` is a share (0 to 1) of the best hit's score,
    `cache_ttl` seconds."""

    strategy: Strategy | None = None
    query_param: str | None = None
    top_k: int | None = None
    min_score: float | None = None
    cache_ttl: float | None = None


class KnowledgeSourceConfig(NamedTuple):
    """A source as declared: a descriptor that holds nothing live."""

    name: str
    type: SourceType = SourceType.FILE
    path: str = ""
    url: str = ""
    connection: str = ""
    query: str = ""
    format: DocumentFormat = DocumentFormat.AUTO
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    enabled: bool = True
    when: When = When.ALWAYS

    @staticmethod
    def file(name: str, path: str) -> "KnowledgeSourceConfig":
        """A file or directory."""
        return KnowledgeSourceConfig(name, path=path)

    @staticmethod
    def remote(name: str, url: str) -> "KnowledgeSourceConfig":
        """A document at an http or https URL."""
        return KnowledgeSourceConfig(name, SourceType.URL, url=url)

    @staticmethod
    def database(name: str, connection: str, query: str = "") -> "KnowledgeSourceConfig":
        """Rows that a loader of the entry point group `ragcli.sources` reads."""
        return KnowledgeSourceConfig(name, SourceType.DATABASE, connection=connection, query=query)

    @staticmethod
    def memory(name: str) -> "KnowledgeSourceConfig":
        """A corpus that the application supplies at run time."""
        return KnowledgeSourceConfig(name, SourceType.MEMORY)


class KnowledgeEntry(NamedTuple):
    """A source and how it is used. `declared` is the location and base of the lowest layer (for `when`)."""

    source: KnowledgeSourceConfig
    use: Use = Use.SEARCH
    max_tokens: int | None = None
    search_settings: SearchSettings = SearchSettings()
    origin: Origin = PROGRAM
    declared: tuple[str, str] | None = None

    @staticmethod
    def search(source: KnowledgeSourceConfig) -> "KnowledgeEntry":
        """An entry that is searched with the default settings."""
        return KnowledgeEntry(source)

    @property
    def name(self) -> str:
        """The source's name."""
        return self.source.name

    @property
    def location(self) -> str:
        """The path, URL or connection as written, '' for a source that loads nothing."""
        return self.source.path or self.source.url or self.source.connection


class Action(NamedTuple):
    """A named action: the parameters it takes and the knowledge it names, entry by entry as given."""

    name: str
    type: str = "llm"
    params: tuple[str, ...] = ()
    knowledge: tuple["Given", ...] = ()
    on_failure: OnFailure = OnFailure.FAIL
    description: str = ""
    origin: Origin = PROGRAM


class Role(NamedTuple):
    """A role of an agent, its entries after layering."""

    name: str
    knowledge: tuple[KnowledgeEntry, ...] = ()
    actions: Mapping[str, Action] = {}


class Agent(NamedTuple):
    """An agent, its entries after layering. `chat_roles` lets its roles' entries join the chat."""

    name: str
    knowledge: tuple[KnowledgeEntry, ...] = ()
    actions: Mapping[str, Action] = {}
    roles: Mapping[str, Role] = {}
    chat_roles: bool = False


class Member(NamedTuple):
    """One checked value of an entry and where it was given."""

    value: object
    origin: Origin


Given = Mapping[str, Member]


class Problem(NamedTuple):
    """One thing wrong with a declaration: the layer, file and key that it is found at, and what it is."""

    layer: str
    file: str
    key: str
    message: str

    def __str__(self) -> str:
        return (
            f"{self.file}: {self.key}: {self.message} ({self.layer})"
            if self.key
            else (f"{self.file}: {self.message} ({self.layer})")
        )


class Problems:
    """Collects what is wrong, in the order it is found."""

    def __init__(self) -> None:
        self.found: list[Problem] = []

    def add(self, origin: Origin, message: str) -> None:
        """Note a problem at an origin, once."""
        problem = Problem(origin.layer.value, origin.file, origin.key, message)
        if problem not in self.found:
            self.found.append(problem)


class KnowledgeUsage(NamedTuple):
    """What one source did in one chat turn (scope "chat") or action call (scope: the action's name)."""

    scope: str
    source: str
    use: str
    documents: int
    tokens: int
    milliseconds: float
    cached: bool = False
    error: str = ""
