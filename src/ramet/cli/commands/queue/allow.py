"""`ramet allow`: list the calls that were refused to an effort's agents, and allow them by a rule."""

from collections.abc import Sequence
from pathlib import Path

import click

from ramet.cli import references
from ramet.cli.command import Command
from ramet.cli.invocation import Invocation
from ramet.cli.output import clean, count, print_json, short_path
from ramet.cli.screens.effort_lines import refused_line
from ramet.cli.screens.styled_lines import print_lines
from ramet.config.edits.user_file import append
from ramet.config.files import user_home
from ramet.config.layers import load
from ramet.errors import Forbidden
from ramet.model.record.session import RefusedCall
from ramet.model.work.permission_rule import KINDS, Call, Places, Policy, Rule, parse
from ramet.protocol.record.efforts import EffortDetail, GetEffort
from ramet.protocol.work.attempts import WorkChain
from ramet.protocol.work.queue import ResumeWork
from ramet.vendors import policies


@click.command(
    cls=Command,
    examples=[
        "ramet allow e4",
        "ramet allow e4 'run: npm test'",
        "ramet allow e4 'run: npm *' 'fetch: registry.npmjs.org'",
    ],
)
@click.argument("effort_id", metavar="EFFORT", type=references.effort)
@click.argument("texts", metavar="RULE...", nargs=-1)
@click.option("--no-resume", is_flag=True, help="Only add the rules.")
@click.pass_obj
def allow(invocation: Invocation, effort_id: int, texts: tuple[str, ...], no_resume: bool) -> None:
    """Allow agents of the EFFORT's project what each RULE says, and resume the EFFORT in its context window.

    Without a RULE, list the calls that were refused and the rules that would allow them. Rules are added to your own
    configuration file, for this project alone.
    """
    detail = invocation.ask(GetEffort(effort_id=effort_id))
    if not texts:
        return _list(invocation, detail)
    if "RAMET_TOKEN" in invocation.environ or "RAMET_SESSION" in invocation.environ:
        raise Forbidden("an agent cannot change what agents may do", fix="run `ramet allow` in your own terminal")
    rules = [parse(text) for text in texts]
    project = invocation.ask(WorkChain(effort_id=effort_id)).project_path
    file = ""
    for rule in rules:
        file = str(append(invocation.environ, policies.project_keys(project), str(rule)))
    resumed = _resume(invocation, detail, rules) if not no_resume else None
    policy = _read_policy(invocation, project)
    places = Places(detail.worktree or project, str(user_home(invocation.environ)))
    left = [call for call in detail.refused_calls if not _is_allowed(policy, places, call)]
    if invocation.as_json:
        shown = {"effort_id": effort_id, "project": project, "file": file, "rules": [str(rule) for rule in rules]}
        return print_json({**shown, "resumed": resumed is None and not no_resume, "refused_calls": left})
    where = f"{project} (in {short_path(invocation, file)})"
    click.echo(clean(f"allowed in {where}: {', '.join(map(str, rules))}"))
    if left:
        click.echo(f"{count(len(left), 'refused call')} would still be refused: `ramet allow e{effort_id}` lists all")
    if not no_resume:
        click.echo(clean(resumed or f"e{effort_id} is queued and continues where it was: `ramet work` runs it"))
    return None


def _list(invocation: Invocation, detail: EffortDetail) -> None:
    if invocation.as_json:
        shown = {"effort_id": detail.id, "refused": detail.refused, "refused_calls": detail.refused_calls}
        return print_json(shown)
    if not detail.refused_calls:
        return click.echo(f"no call of e{detail.id} was refused")
    click.echo(f"{count(detail.refused, 'call')} of e{detail.id} refused:")
    return print_lines([[("  ", ""), *refused_line(detail.id, call)] for call in detail.refused_calls], cut=False)


def _resume(invocation: Invocation, detail: EffortDetail, rules: Sequence[Rule]) -> str | None:
    """Queue the effort again; if that cannot be done, what the person can do instead."""
    name = f"e{detail.id}"
    if detail.prompt is None:
        return f"{name} was started by hand: continue it in its own program, which has its own permissions"
    if detail.lifecycle != "finished":
        return f"{name} is {detail.lifecycle}: the rules count from its next attempt"
    if detail.run_id is not None:
        return f"{name} is a line of r{detail.run_id}: `ramet run --resume r{detail.run_id} --retry-failed` repeats it"
    reason = f"calls were refused, but these are allowed now: {', '.join(map(str, rules))}"
    invocation.ask(ResumeWork(effort_id=detail.id, reason=reason))
    return None


def _read_policy(invocation: Invocation, project: str) -> Policy:
    """The policy of the project as it is now: its file has just been changed."""
    settings = load(invocation.environ, Path(project), {}, is_lenient=True).settings
    return policies.find_policy(settings, project, str(user_home(invocation.environ)))


def _is_allowed(policy: Policy, places: Places, call: RefusedCall) -> bool:
    """Whether a call that was refused would pass now; one that no rule can allow would not."""
    kind = call.rules[0].partition(":")[0] if call.rules else None
    return kind in KINDS and policy.decide(Call(kind, call.call), places) == "allow"
