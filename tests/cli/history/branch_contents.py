"""What a branch holds, as the command line shows it."""

from tests.cli.command_line import CommandLine


def hash_at(ramet: CommandLine, depth: int, branch: str = "main") -> str:
    rows = ramet.json("history", "log", branch, "-n", "100")["items"]
    return str(next(row["hash"] for row in rows if row["depth"] == depth))


def compiled(ramet: CommandLine, branch: str = "main") -> list[str]:
    reply = ramet.json("history", "compile", branch, "--format", "openai")
    return [message["content"] for message in reply["messages"]]
