"""Gates: when an agent may not use a tool yet, why, and what it has to do first.

The heartbeat gate reminds an agent that works without logging, and then blocks it. It is off unless the configuration,
the skill or its phase asks for it, and ignores an agent that is still loading or is handing off. The directive gate
blocks a change until the agent has received the rules of the directory. Both say how to continue.
"""

import posixpath
import re
from typing import Any

from ramet.engine.hooks import directives
from ramet.engine.record import skills
from ramet.engine.transaction import Transaction
from ramet.model.hooks.hook import HookAnswer, HookEvent
from ramet.model.record.skill import Skill
from ramet.protocol.hooks.hooks import HookFacts
from ramet.store.hooks import hooks
from ramet.store.hooks.hooks import Hooked
from ramet.store.record import efforts

_HEARTBEAT = "heartbeat"
"""What a skill's directive, or a field of its phase, is called that asks for log entries."""
_OWN_TOOLS = "mcp__ramet__"
_SHELLS = frozenset({"Bash", "shell", "exec_command", "local_shell", "run_shell_command"})
_INERT = re.compile(r"""\\.|'[^']*'|"(?:\\.|[^"\\`$]|\$(?!\())*"|[0-9]?>&[0-9]""", re.DOTALL)
"""What a shell takes literally: quoted text in which nothing runs, and the redirection of one output to another."""
_GOING = re.compile(r"\Acd\s[^;&|\n`()]*&&\s*")
_MORE = re.compile(r"[;&|\n`()]")
"""What lets a shell run more than one command."""
_CHANGING = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit", "apply_patch"})
_ALMOST_FULL = 0.95
"""An agent whose context is this full is only expected to hand off."""
_NOTE = 'run `ramet note "what you did, and why"`'
_TOOL = "call Ramet's tool `log`"


def check(tx: Transaction, hooked: Hooked, event: HookEvent, facts: HookFacts) -> HookAnswer:
    """Whether a tool may be used now."""
    if is_own(event):
        return HookAnswer()
    answer = _check_heartbeat(tx, hooked)
    if answer.is_blocked or tx.hooks.directive_gate != "block" or event.tool not in _CHANGING:
        return answer
    return _check_directives(tx, hooked, facts) or answer


def is_own(event: HookEvent) -> bool:
    """Whether a tool is one of ours, or a shell that runs our own command. Such calls neither count nor are held."""
    if event.tool is None:
        return False
    if event.tool.startswith(_OWN_TOOLS):
        return True
    return event.tool in _SHELLS and _runs_ramet(event.tool_input)


def _runs_ramet(given: Any) -> bool:
    """Whether a shell runs our own command and nothing else, except a change of directory before it."""
    command = given.get("command", given.get("cmd")) if isinstance(given, dict) else given
    if isinstance(command, list):
        # bash -lc COMMAND: what counts is what the shell is given.
        command = command[-1] if command else ""
    if not isinstance(command, str):
        return False
    plain = _GOING.sub("", _INERT.sub("_", command).strip())
    first = plain.split(maxsplit=1)[:1]
    return bool(first) and posixpath.basename(first[0]) == "ramet" and _MORE.search(plain) is None


def _check_heartbeat(tx: Transaction, hooked: Hooked) -> HookAnswer:
    bounds = tx.hooks
    is_late = bool(bounds.heartbeat_warn) and hooked.calls >= bounds.heartbeat_warn
    is_over = bool(bounds.heartbeat_block) and hooked.calls >= bounds.heartbeat_block
    if not (is_late or is_over) or not _asks_heartbeat(tx, hooked) or _is_bypassed(tx, hooked):
        return HookAnswer()
    count = f"{hooked.calls} tool calls without a log entry"
    if is_over:
        return HookAnswer(
            is_blocked=True,
            reason=f"{count}. Before you continue, {_how(hooked.is_kept)} as a separate call, then use the tool again.",
        )
    return HookAnswer(context=f"{count}. {rule(hooked.is_kept)}")


def rule(is_kept: bool) -> str:
    """What the heartbeat gate asks for."""
    return f"Log what you do as you work: {_how(is_kept)}."


def _how(is_kept: bool) -> str:
    """Only an agent that Ramet runs surely has its tools."""
    return f"{_TOOL}, or {_NOTE}" if is_kept else _NOTE


def _asks_heartbeat(tx: Transaction, hooked: Hooked) -> bool:
    if tx.hooks.heartbeat:
        return True
    if not hooked.may_ask_heartbeat:
        return False
    effort = efforts.must_find(tx.db, hooked.effort_id)
    skill = skills.find(tx, efforts.project_of(tx.db, effort.id), effort.skill)
    return is_asked_by(skill, effort.current_phase)


def is_asked_by(skill: Skill | None, phase: str | None) -> bool:
    """Whether a skill as a whole asks for log entries, or the phase that is current."""
    if skill is None:
        return False
    if any(is_heartbeat(directive) for directive in skill.directives or ()):
        return True
    phases = [each for each in skill.phases or () if isinstance(each, dict)]
    return any(each.get("label") == phase and each.get(_HEARTBEAT) is True for each in phases)


def is_heartbeat(directive: str) -> bool:
    """Whether a directive of a skill is not told but asks for log entries."""
    return directive.strip().lower() == _HEARTBEAT


def _is_bypassed(tx: Transaction, hooked: Hooked) -> bool:
    """Whether it is still loading, before its first prompt, or is handing off: it has handed off and is over, or its
    context is almost full.
    """
    has_left = hooked.has_handed_off and hooked.has_ended
    is_handing_off = has_left or (hooked.context_usage or 0) >= _ALMOST_FULL
    return is_handing_off or hooks.find_newest_prompt(tx.db, hooked.id) is None


def _check_directives(tx: Transaction, hooked: Hooked, facts: HookFacts) -> HookAnswer | None:
    """The rules of a place come before the first change there. The refusal has them: so the next try goes through."""
    told = directives.tell(tx, hooked, facts.directives)
    if told is None:
        return None
    reason = f"This directory has rules that you have not seen. Read them here, then repeat the call.\n\n{told}"
    return HookAnswer(is_blocked=True, reason=reason)
