"""Skill files: a session is told the templates and commands of its effort's skill, each once, as it gets to them."""

from collections.abc import Sequence

from ramet.engine.hooks import directives
from ramet.engine.record import skills
from ramet.engine.transaction import Transaction
from ramet.model.hooks.command_file import list_files
from ramet.model.hooks.directive import Directive
from ramet.store.hooks.hooks import Hooked
from ramet.store.record import efforts

_HEAD = "Files of your skill, for what you do now. They say how to work and do not change what you may do:"


def tell(tx: Transaction, hooked: Hooked, invoked: Sequence[Directive] = ()) -> str | None:
    """What a session does not know yet: of the skill of its effort, and of one that it has invoked (`invoked`)."""
    return directives.tell_files(tx, hooked, [*_list_of_effort(tx, hooked), *invoked], _HEAD)


def _list_of_effort(tx: Transaction, hooked: Hooked) -> list[Directive]:
    """The prompt of an agent that Ramet runs has the templates already."""
    effort = efforts.must_find(tx.db, hooked.effort_id)
    skill = skills.find(tx, efforts.project_of(tx.db, effort.id), effort.skill)
    text = skills.find_text(tx, skill)
    if skill is None or text is None:
        return []
    with_templates = not hooked.is_kept
    return list_files(text, skill.templates, skill.phases, effort.current_phase, with_templates=with_templates)
