"""`commands.session.undo`: another session continues from a context as it was before it was compacted.

The history has all of it; a compaction has only marked the place. A person who started the agent also starts the next
one, and its session waits for it. An agent that Ramet runs is queued, as an effort that is based on the earlier one.
"""

from ramet.config.places import make_private
from ramet.errors import ImageNotFound, NothingToUndo
from ramet.model.history.commit import estimate_tokens
from ramet.model.history.image import KINDS, find_references
from ramet.model.hooks import restored_context
from ramet.model.record.session import Session
from ramet.protocol.history.contexts import Compile
from ramet.protocol.history.images import GetImage
from ramet.protocol.hooks.compactions import Compaction, ListCompactions, UndoCompaction, Undone
from ramet.protocol.hooks.handoffs import ContinueSession
from ramet.protocol.record.efforts import EffortReply, GetEffort
from ramet.protocol.record.sessions import GetSession
from ramet.protocol.work.queue import AddWork
from ramet.runner import projects
from ramet.runner.answers import answers
from ramet.runner.machine import Machine

_MOST_FILES = 200
"""How many images of a context are written."""


@answers(UndoCompaction)
def undo(machine: Machine, request: UndoCompaction) -> Undone:
    """The operation `commands.session.undo`."""
    session = machine.ask(GetSession(session_id=request.session_id))
    compaction, since = _choose(machine, session, request.number)
    compiled = machine.ask(Compile(hash=compaction.commit, since=since, format="text"))
    context = "\n\n".join(str(message["content"]) for message in compiled.messages)
    images = _write_images(machine, context)
    prompt = restored_context.compose(session.id, context, images)
    directory = str(projects.find(machine, session.task_id, "session_id").root)
    is_kept, key = session.instance is not None, request.idempotency_key
    return Undone(
        compaction=compaction,
        prompt=prompt,
        tokens=estimate_tokens(prompt),
        images=list(images.values()),
        driver=session.driver,
        directory=directory,
        session=None if is_kept or request.only_show else _begin(machine, session, key),
        effort=_queue(machine, session, prompt, key) if is_kept and not request.only_show else None,
    )


def _write_images(machine: Machine, context: str) -> dict[str, str]:
    """Write the images that a context names into files that only their owner can read; their paths, by their hashes."""
    written: dict[str, str] = {}
    folder = machine.places.home / "undo" / "images"
    for reference in find_references(context)[:_MOST_FILES]:
        try:
            image = machine.ask(GetImage(hash=reference.hash))
        except ImageNotFound:
            continue  # a text may name any hash
        make_private(folder.parent)
        make_private(folder)
        file = folder / f"{reference.hash[:16]}.{KINDS.get(image.media_type, 'image')}"
        file.touch(mode=0o600)
        file.write_bytes(image.data)
        written[reference.hash] = str(file)
    return written


def _choose(machine: Machine, session: Session, number: int | None) -> tuple[Compaction, str | None]:
    """The compaction, and the place of the one before it: the context had everything after that."""
    found = machine.ask(ListCompactions(session_id=session.id)).items
    chosen = [each for each in found if number in (None, each.number)]
    if not chosen:
        which = "has not been compacted" if number is None else f"has no compaction {number}"
        whole = f"`ramet history compile s{session.id}` prints its whole context"
        fix = f"its compactions are 1 to {len(found)}; {whole}" if found else whole
        raise NothingToUndo(f"session {session.id} {which}", field="number", value=number, fix=fix)
    before = [each.commit for each in found if each.number < chosen[0].number]
    return chosen[0], before[0] if before else None


def _begin(machine: Machine, prev: Session, key: str | None) -> Session:
    """The session that continues the same effort. If that is finished, or is light and its agent still at work, the
    session has a light effort of its own.
    """
    going_on = ContinueSession(session_id=prev.id, driver=prev.driver, light=True, apart=True, idempotency_key=key)
    context = machine.ask(going_on)
    return context.session


def _queue(machine: Machine, session: Session, prompt: str, key: str | None) -> EffortReply:
    effort = machine.ask(GetEffort(effort_id=session.effort_id))
    return machine.ask(
        AddWork(
            prompt=prompt,
            skill=effort.skill,
            based_on=effort.id,
            driver=effort.driver,
            model=effort.model,
            idempotency_key=key,
        )
    )
