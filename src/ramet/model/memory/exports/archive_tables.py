"""The tables of an archive: which columns of which rows it holds, and what they refer to.

An archive is a list of rows in an order in which each row refers only to rows before it. Rows are named by the ids that
they had where they were exported; the importer gives them new ones. What is of one machine or of one moment is not in
it: leases, processes, events, kept replies, parked drivers, positions in transcripts.
"""

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

Kind = Literal["int", "real", "text", "hash"]
Value = str | int | float | None

_KINDS: dict[str, Kind] = {"i": "int", "r": "real", "t": "text", "h": "hash"}


class Column(Struct, frozen=True, kw_only=True):
    """One value of a row."""

    name: str
    kind: Kind
    is_optional: bool
    refers_to: str | None = None
    """The table of the row that it names."""


class Table(Struct, frozen=True, kw_only=True):
    """One kind of row."""

    name: str
    columns: tuple[Column, ...]
    key: str | None = None
    """The column by which other rows, and a repeated import, name it."""

    @property
    def references(self) -> Iterator[Column]:
        """The columns that name other rows."""
        return (column for column in self.columns if column.refers_to is not None)


def _table(name: str, columns: str, key: str | None = None) -> Table:
    return Table(name=name, columns=tuple(_column(each) for each in columns.split()), key=key)


def _column(text: str) -> Column:
    """`name:kind`, with `?` if it may be null, and `>table` if it names a row of one."""
    declared, _, refers_to = text.partition(">")
    name, _, kind = declared.partition(":")
    return Column(name=name, kind=_KINDS[kind[0]], is_optional=kind.endswith("?"), refers_to=refers_to or None)


TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        _table("content_types", "name:t default_role:t default_priority:t compression_priority:i compiles:i"),
        _table("projects", "path:t name:t? created_at:t remote:t? removed_at:t?", key="path"),
        _table(
            "skills",
            "id:i project:t>projects name:t phases:t? modes:t? templates:t? cmd_dependencies:t? next_skills:t? "
            "directives:t? updated_at:t",
            key="id",
        ),
        _table(
            "skill_texts",
            "skill_id:i>skills file:t description:t instructions:t template_texts:t command_texts:t changes:t?",
        ),
        _table(
            "tasks",
            "dir_path:t project:t>projects workspace:t? title:t? description:t? keywords:t? created_at:t",
            key="dir_path",
        ),
        _table("agents", "id:t label:t?", key="id"),
        _table("tombstones", "subject:t hash:h size:i purged_by:t purged_at:t reason:t"),
        _table("blobs", "hash:h size:i text:t?", key="hash"),
        _table("images", "hash:h media_type:t data:t"),
        _table(
            "commits",
            "hash:h parent:h?>commits second_parent:h?>commits blob:h>blobs content_type:t role:t operation:t "
            "target:h?>commits author:t at_ms:i? created_ms:i tokens:i metadata:t? reported_tokens:i? "
            "priority:t? tags:t?",
            key="hash",
        ),
        _table("branches", "name:t head:h?>commits created_ms:i", key="name"),
        _table(
            "runs",
            "id:i project:t>projects task_id:t>tasks name:t mode:t content_hash:t? limits:t stop_on_failure:i "
            "save_conversation:i branch:t?>branches created_at:t started_at:t finished_at:t? archived_at:t? reason:t? "
            "base_commit:t? base_branch:t? base_changes:t? keep_going:i purged_at:t?",
            key="id",
        ),
        _table(
            "efforts",
            "id:i task_id:t>tasks skill:t mode:t? ordinal:i lifecycle:t current_phase:t? discovered_directives:t? "
            "discovered_directories:t? metadata:t? created_at:t finished_at:t? outcome:t? reason:t? prompt:t? "
            "based_on:i?>efforts driver:t? model:t? priority:i timeout_seconds:i? report_file:t? output_content:t? "
            "git_branch:t? git_base:t? git_head:t? attempts:i retry_of:i?>efforts run_id:i?>runs usage:t? failure:t? "
            "changes:t? run_line:t? run_order:i? run_agent:t? workspace:t? base_commit:t? base_branch:t? "
            "base_changes:t? accepts_no_change:i",
            key="id",
        ),
        _table("dependencies", "effort_id:i>efforts needs_id:i>efforts needs:t"),
        _table("phase_history", "effort_id:i>efforts phase_label:t proof:t? reason:t? created_at:t"),
        _table(
            "sessions",
            "id:i task_id:t>tasks effort_id:i>efforts prev_session_id:i?>sessions parent_session_id:i?>sessions "
            "root_session_id:i?>sessions spawn_depth:i agent_id:t?>agents driver:t? native_id:t? branch:t>branches "
            "heartbeat_counter:i last_heartbeat:t? context_usage:r? loaded_files:t? dehydration_payload:t? outcome:t? "
            "notes:t? created_at:t ended_at:t? exit_status:i? exit_signal:i? report:t? model:t? title:t? "
            "forked_from_session_id:i?>sessions archived_at:t? purged_at:t?",
            key="id",
        ),
        _table(
            "moves",
            "id:i branch:t old:h?>commits new:h?>commits why:t at_ms:i undoes:i?>moves",
            key="id",
        ),
        _table(
            "effort_links",
            "effort_id:i>efforts continues_session_id:i?>sessions spawned_by:i?>sessions awaited_by:i?>sessions",
        ),
        _table(
            "messages",
            "session_id:i>sessions role:t commit:h>commits tool_name:t? timestamp:i source_key:t? is_provisional:i",
        ),
        _table(
            "usage",
            "session_id:i>sessions key:t model:t? input_tokens:i output_tokens:i cache_read_tokens:i "
            "cache_write_tokens:i cost_usd:r? estimated_usd:r?",
        ),
        _table(
            "usage_times",
            "session_id:i>sessions at_ms:i model:t calls:i input_tokens:i output_tokens:i cache_read_tokens:i "
            "cache_write_tokens:i injected_tokens:i cost_usd:r? estimated_usd:r?",
        ),
        _table(
            "budgets",
            "session_id:i>sessions root_session_id:i?>sessions tokens:i? cost_usd:r? spent_tokens:i spent_cost_usd:r "
            "settled_at:t?",
        ),
        _table(
            "refused_calls",
            "session_id:i>sessions subject:t name:t key:t effort_id:i>efforts call:t rules:t advice:t times:i "
            "created_at:t",
        ),
        _table("discoveries", "session_id:i>sessions path:t hash:t?"),
        _table("thoughts", "session_id:i>sessions source_key:t"),
        _table(
            "findings",
            "run_id:i>runs effort_id:i?>efforts round:i fingerprint:t severity:t file:t? line:i? text:t state:t",
        ),
        _table(
            "notices",
            "kind:t text:t effort_id:i?>efforts session_id:i?>sessions created_at:t dismissed_at:t? dedupe_key:t",
        ),
        _table(
            "spawn_pointers",
            "id:i parent_branch:t parent_commit:h?>commits child_branch:t>branches purpose:t inheritance_mode:t "
            "display_name:t? created_at:t parent_session_id:i?>sessions child_session_id:i?>sessions",
            key="id",
        ),
        _table("collapses", "spawn_id:i>spawn_pointers commit:h>commits child_head:h?>commits at_ms:i"),
    )
}
"""Every table, in the order in which an archive has their rows."""

LEFT_OUT_TABLES: dict[str, str] = {
    "schema_migrations": "the version of one database",
    "segments": "follows from the commits",
    "revisions": "a counter of one database",
    "events": "what happened in one database",
    "idempotency": "replies to programs of one machine",
    "parked": "drivers of one machine",
    "hosts": "trouble of one machine",
    "landings": "branches of one machine's clone, on their way into another",
    "project_paths": "where projects are on one machine",
    "ingests": "positions in files of one machine",
    "imports": "positions in files of one machine",
    "purged_spans": "follows from the tombstones",
    "purges": "steps of one database",
    "missed_starts": "what an agent on one machine is still owed",
    "embeddings": "derived",
    "edits": "derived from the calls of tools and from git",
    "edit_readings": "how far one database has derived edits",
    "origins": "the name of one database",
    "archived_keys": "what one database has imported",
    "annotations": "in the rows of commits",
    "tags": "in the rows of commits",
}
"""Tables without rows in an archive, each with the reason."""

LEFT_OUT_COLUMNS: dict[str, tuple[str, ...]] = {
    "efforts": (
        "lease_owner",
        "lease_generation",
        "lease_expires_at",
        "not_before",
        "avoid_host",
        "git_host",
        "stop_request",
        "worktree",
        "agent_failures",
        "host_failures",
        "depends_on",
        "continues_session_id",
        "spawned_by",
        "awaited_by",
    ),
    "sessions": (
        "pid",
        "instance",
        "generation",
        "process_started",
        "reported_seq",
        "tools_in_flight",
        "deadline",
        "host",
        "permission_tool",
    ),
    "agents": ("claims", "effort_id"),
    "runs": ("attender", "attended_until"),
}
"""Columns that are of one machine or one moment, or that other rows carry (`effort_links`, `dependencies`)."""
