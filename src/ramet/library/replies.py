"""The types that the seeds promise to programs, made from the replies of the wire.

The wire's names are frozen, so the two differ in a few fields: `parent` is `parent_tract_id`, `child` is
`child_tract_id`. The generated `operations` call these functions; nothing else needs them.
"""

from msgspec.structs import asdict

from ramet.model.history.child_branch import CollapseResult, SpawnFamily, SpawnInfo, SpawnRecord
from ramet.protocol.history.child_branches import CollapseReply, SpawnRow, SpawnTree


def spawn_info(row: SpawnRow) -> SpawnInfo:
    """A child that was just spawned."""
    return SpawnInfo(
        spawn_id=row.spawn_id,
        parent_tract_id=row.parent,
        parent_commit_hash=row.parent_commit,
        child_tract_id=row.child,
        purpose=row.purpose,
        inheritance_mode=row.inheritance_mode,
        display_name=row.display_name,
        created_at=row.created_at,
    )


def spawn_family(tree: SpawnTree) -> SpawnFamily:
    """A history's relatives."""
    return SpawnFamily(
        parent=None if tree.parent is None else _record(tree.parent),
        ancestors=tuple(tree.ancestors),
        children=tuple(_record(child) for child in tree.children),
    )


def collapse_result(reply: CollapseReply) -> CollapseResult:
    """A child's work, folded into its parent or proposed for it."""
    facts = asdict(reply)
    return CollapseResult(child_tract_id=facts.pop("child"), **facts)


def _record(row: SpawnRow) -> SpawnRecord:
    return SpawnRecord(**vars(spawn_info(row)), collapses=tuple(row.collapses))
