"""What a driver is: how one kind of agent program is started, and what its stream says.

A driver knows its program's arguments and lines, and nothing else: no process, no database, no clock. The keeper runs
what `launch` gives and reads the output through `reader`; both are the same for every program. `docs/drivers.md` says
how a vendor is added.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol, runtime_checkable

from msgspec import Struct

from ramet.config.settings import ProfileSettings
from ramet.model.work.driver import Abilities
from ramet.model.work.permission_rule import Policy
from ramet.model.work.stream import End, StreamEvent
from ramet.protocol.work.keepers import Launch

NO_VARIABLES: Mapping[str, str] = MappingProxyType({})


class ToolServer(Struct, frozen=True, kw_only=True):
    """The MCP server that an agent is given."""

    command: str
    arguments: list[str]
    variables: list[str]
    """The environment variables that it needs, by name: their values are nobody's who can list processes."""
    seconds: int
    """How long one of its calls may take. The program waits a little longer."""


class GitPlaces(Struct, frozen=True, kw_only=True):
    """What a commit in the agent's worktree writes of its repository, for programs with a sandbox of their own."""

    writable: list[str]
    read_only: list[str]
    """What is inside of these and leads git elsewhere."""


class Unexpressed(Struct, frozen=True):
    """A rule that a program cannot be told."""

    verdict: str
    rule: str
    reason: str


class Start(Struct, frozen=True, kw_only=True):
    """An attempt about to be made."""

    instruction: str
    """The effort's own prompt."""
    context: str
    """What the chain and the skill put around it."""
    prompt: str
    """Both, as `work.prompt` shows them."""
    program: list[str]
    """The program and its first arguments, as they were found."""
    directory: str
    environment: dict[str, str]
    profile: ProfileSettings
    model: str | None = None
    native_id: str | None = None
    """The context window's name: the one to go on with, or the one to give to a new one."""
    resumes: bool = False
    forks: bool = False
    tools: ToolServer | None = None
    """Ramet's own tools; only for drivers that take MCP servers."""
    guidance: str = ""
    """What the agent is told about them, in its system prompt."""
    allowed_tools: list[str] | None = None
    """Only these of the program's own tools; only for drivers that can be confined."""
    policy: Policy = Policy()
    """What the agent may do without asking."""
    git: GitPlaces | None = None
    """None if it does not work in a worktree of Ramet's."""


class ProcessExit(Struct, frozen=True, kw_only=True):
    """How the program ended."""

    status: int | None
    """None where a signal ended it."""
    signal: int | None
    errors: str
    """The end of its standard error."""


class Reader(Protocol):
    """Reads one program's output, line by line. It remembers what it needs to conclude."""

    def read(self, line: str) -> list[StreamEvent]:
        """What a line says; a line that is not understood is a `Remark`, never an error."""

    def read_error(self, line: str) -> list[StreamEvent]:
        """What a line of its standard error says: at least a `Remark`."""

    @property
    def is_turn_over(self) -> bool:
        """Whether the program has said how the agent's turn ended, and nothing is left that would start another. Only a
        background task can then keep it running. False if its lines do not say.
        """

    def conclude(self, process: ProcessExit) -> End:
        """What it all came to. Called once, after the last line."""


@runtime_checkable
class Looking(Protocol):
    """A reader that finds more than the program prints: in a file that it writes a moment later."""

    def look(self) -> list[StreamEvent]:
        """What is new there."""


@runtime_checkable
class Driver(Protocol):
    """One kind of agent program."""

    name: str
    programs: tuple[str, ...]
    """What it is called in PATH, the preferred name first; none where the profile has to say."""
    bundled: tuple[str, str] | None
    """A Python package that brings the program along, and where in it."""
    tells_version: bool
    """Whether `PROGRAM --version` is harmless, and says it."""
    abilities: Abilities
    names_sessions: bool
    """Whether we choose the native id of a new context window."""
    fix: str
    """How to get the program."""

    def launch(self, start: Start) -> Launch:
        """The process that makes the attempt, without its wrapper."""

    def reader(self, profile: ProfileSettings, environment: Mapping[str, str] = NO_VARIABLES) -> Reader:
        """A reader for one attempt's output; `environment` is the program's, where it says something of its files."""

    def refuses(self, policy: Policy, profile: ProfileSettings) -> list[str]:  # noqa: ARG002
        """What the program refuses to an agent under this policy, in words; nothing if it knows no permissions."""
        return []

    def find_unexpressed(self, policy: Policy, profile: ProfileSettings) -> list[Unexpressed]:  # noqa: ARG002
        """The rules that the program cannot be told."""
        return []
