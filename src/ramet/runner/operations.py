"""Every operation that the machine answers: importing this registers them all."""

from typing import Any

from ramet.protocol.operation import Request
from ramet.runner import drivers
from ramet.runner.answers import answers
from ramet.runner.attempts import prompts
from ramet.runner.budgets import daily_budgets
from ramet.runner.landing import plans, work_diff
from ramet.runner.machine import Machine
from ramet.runner.memory import notes, why
from ramet.runner.project_files import directives, effort_starts, files, session_undo, skills
from ramet.runner.runs import branches
from ramet.runner.settlement import kept_refs, reports, validation, worktrees

__all__ = ["answer", "answers"]

_REGISTERED = (
    branches,
    daily_budgets,
    directives,
    drivers,
    effort_starts,
    files,
    kept_refs,
    notes,
    plans,
    prompts,
    reports,
    session_undo,
    skills,
    validation,
    why,
    work_diff,
    worktrees,
)


def answer(machine: Machine, request: Request[Any]) -> Any:
    """The reply to a request whose host is the machine."""
    return answers.find(type(request))(machine, request)
