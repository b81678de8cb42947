"""Every behaviour that Ramet promises, by its number, and whether it is due in this release.

The numbers are stable. A test carries those it proves as `@pytest.mark.requirement("R208")`, and
`tests/test_requirements.py` checks both directions: nothing due without a test or a written reason, no number that
does not exist, nothing proved that this list still calls later.

Each entry is the requirement's full sentence. R1 to R280 speak the language of the documents that Ramet grew from: a
class, a module, a column type or a file that a sentence quotes has its name here in `docs/reference/seeds.md`. If a
decision replaced more than a name, the entry says which (`departure`).
"""

from typing import NamedTuple


class Requirement(NamedTuple):
    """One promised behaviour."""

    text: str
    later: str | None = None
    """The work that brings it, where it is not due yet."""
    later_part: str | None = None
    """What of a due behaviour only later work can build, and which work that is."""
    reason: str | None = None
    """Why it needs no test."""
    departure: str | None = None
    """What replaced a part of the sentence: a row of the departures in `docs/glossary.md`, or a later requirement."""

    @property
    def is_due(self) -> bool:
        return self.later is None


def due(text: str, *, departure: str | None = None, later_part: str | None = None) -> Requirement:
    return Requirement(text, departure=departure, later_part=later_part)


def later(work: str, text: str, *, departure: str | None = None) -> Requirement:
    return Requirement(text, later=work, departure=departure)


def reason(why: str, text: str) -> Requirement:
    return Requirement(text, reason=why)


REQUIREMENTS: dict[str, Requirement] = {
    # Spawn pointers, and the migrations that bring them.
    "R1": due("`SpawnPointerRow` ORM class, table name `spawn_pointers`.", departure="C35"),
    "R2": due("`id` Integer PK autoincrement."),
    "R3": due("`parent_tract_id` String(64) NOT NULL."),
    "R4": due(
        "`parent_commit_hash` String(64) nullable, FK `commits.commit_hash`, ON DELETE SET NULL (deleting the "
        "commit nulls it, pointer survives)."
    ),
    "R5": due("`child_tract_id` String(64) NOT NULL."),
    "R6": due("`purpose` Text NOT NULL."),
    "R7": due("`inheritance_mode` String(20) NOT NULL; values `full_clone`, `head_snapshot`, `selective`."),
    "R8": due("`display_name` String(255) nullable."),
    "R9": due("`created_at` DateTime NOT NULL."),
    "R10": due("Index `ix_spawn_parent_tract` on parent_tract_id."),
    "R11": due("Index `ix_spawn_child_tract` on child_tract_id."),
    "R12": due("Table created by `init_db()` on a fresh DB."),
    "R13": due('Fresh DB has schema_version `"4"` (stored as a string value).', departure="C5"),
    "R14": due("A v3 DB migrates automatically to 4 and gains the table.", departure="C5"),
    "R15": due("A v2 DB falls through v2→v3→v4: compression tables and spawn_pointers both exist.", departure="C5"),
    "R16": due("Migration uses `create(..., checkfirst=True)`: re-running is safe.", departure="C5"),
    "R17": due("Migration committed (version visible to a second connection)."),
    "R18": due(
        "Second `init_db()` on v4 is a no-op; unknown newer version refuses rather than downgrades.", departure="C5"
    ),
    "R19": due("Migration interrupted midway leaves a DB that still migrates."),
    "R20": due("`SpawnPointerRepository(ABC)` cannot be instantiated."),
    "R21": due(
        "ABC has exactly the six methods save, get, get_by_child, get_children, get_all, has_ancestor.", departure="C23"
    ),
    "R22": due(
        "`save(parent_tract_id, parent_commit_hash, child_tract_id, purpose, inheritance_mode, display_name, "
        "created_at)` returns the row with an id (flushed)."
    ),
    "R23": due("`get(id)` returns row or None."),
    "R24": due("`get_by_child` returns the pointer where the tract is child, else None.", departure="C23"),
    "R25": due("A tract has at most one parent, enforced by UNIQUE; a second save raises a clear `SpawnError`."),
    "R26": due("`get_children` returns all, ordered by created_at; empty list when none."),
    "R27": due("Stable order for equal created_at (then id)."),
    "R28": due("`get_all` returns rows where tract is parent OR child."),
    "R29": due("`has_ancestor(child, ancestor)` True through A→B→C; False for unrelated; False at root."),
    "R30": due("Iterative walk, not recursive; it terminates on a cycle (visited set), and a 10,000-deep chain works."),
    "R31": due("has_ancestor(X, X) defined (False) and self-spawn / cycle-creating save rejected with `SpawnError`."),
    "R32": due("`SqliteSpawnPointerRepository` implements all via SQLAlchemy session queries.", departure="C35"),
    "R33": due("Repositories not exported from package `__init__` until the session layer exists (n/a once unified)."),
    "R34": due('`SessionContent` Pydantic: `content_type: Literal["session"]="session"`.', departure="C35"),
    "R35": due("`session_type ∈ {start,end,handoff,checkpoint}`; other values rejected."),
    "R36": due("`summary: str` required."),
    "R37": due("`decisions`, `failed_approaches`, `next_steps`: list[str], default []."),
    "R38": due("Defaults not shared between instances."),
    "R39": due(
        "`SpawnInfo` frozen dataclass with 8 fields: spawn_id, parent_tract_id, parent_commit_hash, "
        "child_tract_id, purpose, inheritance_mode, display_name, created_at."
    ),
    "R40": due(
        "`CollapseResult` frozen dataclass: parent_commit_hash|None, child_tract_id, summary_text, "
        "summary_tokens, source_tokens, purpose."
    ),
    "R41": due("parent_commit_hash is None when auto_commit=False; summary_text always populated."),
    "R42": due("Mutation of either raises FrozenInstanceError."),
    "R43": due(
        "`SessionContent` is in the `ContentPayload` discriminated union; "
        '`validate_content({"content_type":"session",…})` returns SessionContent.'
    ),
    "R44": due('`"session"` in `BUILTIN_CONTENT_TYPES`.'),
    "R45": due(
        '`BUILTIN_TYPE_HINTS["session"]`: default_priority "pinned", default_role "system", compression_priority 95.'
    ),
    "R46": due("compression_priority is actually read by the compressor (session boundaries survive compression)."),
    "R47": due("`DEFAULT_COLLAPSE_SYSTEM` non-empty, importable next to the summarise prompt."),
    "R48": due(
        "Its facts, in our own words: outcomes first; findings, decisions and artifacts; failures, blockers and "
        "open issues; exact technical details kept; inner reasoning left out but for caveats; a length target if "
        "given; the report begins with `Subagent completed: ` and a summary of the task."
    ),
    "R49": due("`build_collapse_prompt(messages_text, purpose, *, target_tokens=None, instructions=None)`."),
    "R50": due(
        "The prompt states the delegated purpose first, then asks for the summary, then carries the messages' "
        "text unchanged."
    ),
    "R51": due(
        "Target tokens and instructions appended only when given, in the same pattern as the summarise prompt "
        "(shipped: `\\nTarget approximately N tokens.` then `\\nAdditional instructions: …`)."
    ),
    "R52": due("`SpawnError(TraceError)`, `SessionError(TraceError)`."),
    "R53": due(
        "Import paths work: `…storage.schema.SpawnPointerRow`, `…storage.sqlite.SqliteSpawnPointerRepository`, "
        "`…models.session`, `…prompts.summarize`, `…exceptions`."
    ),
    "R54": reason(
        "these are the behaviours of R1 to R53, whose tests carry their numbers",
        "Tests named in the seed exist (23 named functions across 5 groups); existing tests unaffected.",
    ),
    "R55": due("Spawn captures parent state before writing the spawn commit."),
    "R56": due("Pointer written after the parent's spawn commit; a crash between leaves no orphan pointer."),
    "R57": due("Collapse records source tract id and source head in commit metadata; expand finds the child."),
    "R58": due("Collapse without content or LLM raises SpawnError with a fix in the message."),
    "R59": due("Several collapses of one child allowed; each additive; child remains intact."),
    "R60": due("Reopening after a crash resumes the latest root history with no `end` boundary."),
    # Task files, accumulated context, resumable runs.
    "R61": due("`Turn(role: user|assistant|system, content, timestamp, tokens=None, metadata={})`."),
    "R62": due('`ContextAccumulator(max_tokens=100_000, trim_strategy="sliding")`.'),
    "R63": due("`add_turn(role, content)` returns the Turn, appends, stamps time, estimates tokens."),
    "R64": due('Estimate = `len(text) // 4` (so "abc" → 0).'),
    "R65": due("Trim check when total > 0.8 x max_tokens (strictly greater)."),
    "R66": due("Trim keeps first 2 + last 10, only when > 12 turns."),
    "R67": due("Under 13 turns nothing is trimmed; must still end under the limit.", departure="C18"),
    "R68": due("`get_prompt()` joins `[User]|[Assistant]|[System]\\n{content}` with a blank line; order preserved."),
    "R69": due("Unknown role raises a clear error at add_turn, not KeyError at get_prompt."),
    "R70": due("`clear()` empties."),
    "R71": due(
        "`to_dict()` list of dicts; `from_dict()` restores turns equal to the originals, through a JSON round "
        "trip too.",
        departure="C18",
    ),
    "R72": due("from_dict keeps limits; ignores unknown keys from newer versions."),
    "R73": due(
        "Content containing a literal `[Assistant]` line cannot be mistaken for a turn boundary (escape or "
        "structured form)."
    ),
    "R74": due(
        "`CheckpointState` fields: execution_id, plan_id|None, started_at, tasks, last_checkpoint, "
        "interrupted=False, metadata={}, conversation=[].",
        departure="C36",
    ),
    "R75": due(
        "Old checkpoint without `conversation` loads as empty.",
        departure="C36",
    ),
    "R76": due("TaskState list persisted (pending, in_progress, completed, failed, skipped)."),
    "R77": due("`spawn_sequential(tasks, pass_context=True, stop_on_failure=False, context=None, **kwargs)`."),
    "R78": due("Returns results and the final context.", departure="C15"),
    "R79": due("New accumulator when context is None; given one is reused and returned (same object)."),
    "R80": due(
        "With prior turns: prompt = `{get_prompt()}\\n\\n[Current Task]\\n{task.prompt}`; with none: the bare prompt.",
        departure="C16",
    ),
    "R81": due("User turn added before execution with the *original* task prompt, not the expanded one."),
    "R82": due("Assistant turn added only if success and non-empty output."),
    "R83": due("Failed task leaves a visible note (`✗ failed: …`) rather than an unanswered user turn."),
    "R84": due("stop_on_failure breaks after the first failure; results contain that failure."),
    "R85": due("pass_context=False sends bare prompts (turns still recorded)."),
    "R86": due("Agent and timeout carried to the modified task, and all other task fields too."),
    "R87": due("The two-task example yields exactly the prompt in the Data Flow box."),
    "R88": due("`spawn_parallel()` unchanged."),
    "R89": due("CLI `--resume <id>` (string)."),
    "R90": due("CLI `--save-conversation/--no-save-conversation`, default save."),
    "R91": due("Resume of unknown id: `Checkpoint not found: {id}` and non-zero exit.", departure="C36"),
    "R92": due("Resume prints `Resuming {id} with {n} turns of context`."),
    "R93": due("Resume runs only remaining tasks, in order, with the restored conversation."),
    "R94": due("`--resume` needs no task file argument."),
    "R95": due("Without `--resume`, `load_tasks(task_file)`; new flags optional, behaviour otherwise unchanged."),
    "R96": due(
        "Checkpoint saved with tasks and conversation; `--no-save-conversation` saves tasks but no turns.",
        departure="C36",
    ),
    "R97": due("Auto-save after each turn (diagram).", departure="C17"),
    "R98": due("Kill -9 mid-task then resume: completed tasks are not run again; the interrupted one is."),
    "R99": due(
        "Checkpoint write is atomic; a corrupt file gives a clear error and does not lose the older one.",
        departure="C36",
    ),
    "R100": due("Ctrl-C marks `interrupted` true and exits non-zero with the resume command shown."),
    "R101": due("Resume refuses (or warns) when the task list changed since the checkpoint."),
    "R102": due('Files named in "File Changes" have counterparts: context, models, spawner, checkpoint, CLI, helper.'),
    "R103": due(
        "Tests at unit, integration and e2e level for accumulator, serialisation, sequential, resume, full workflow."
    ),
    "R104": due(
        "Future, from the seed: `--interactive` REPL; LLM summarising trim; branching; shared context across "
        "agents (tract compression and branches give three of the four).",
        later_part="two-way agents bring the interactive run",
    ),
    "R105": due(
        "`list` and `clean` of resumable runs (old CLI had `--list-checkpoints`, `--clean-checkpoints DAYS=7`)."
    ),
    "R106": due("Name does not collide with Claude Code's checkpoint/rewind."),
    # Agents that delegate to agents.
    "R107": due("`spawn_agent({workflowId, goal, workspacePath, context?})` callable from inside a running session."),
    "R108": due("Parent blocks until the child ends: no polling, no fire-and-forget."),
    "R109": due("Child created with parentSessionId in the durable log; survives a crash."),
    "R110": due("Returns JSON `{childSessionId, outcome: success|error|timeout, notes}`.", departure="C30"),
    "R111": due("Depth ≥ maxSubagentDepth (default 3) → typed error, nothing spawned, checked before any async work."),
    "R112": due("Root 0, child 1, grandchild 2; so a session at depth 3 cannot spawn."),
    "R113": due(
        "`spawnDepth` is a typed read-only field of the trigger, not in the context map; a caller-supplied "
        "`context.spawnDepth` cannot change it."
    ),
    "R114": due("In-process creation; no HTTP dispatch; no global semaphore (no deadlock with max concurrency 1)."),
    "R115": due("Tool listed in the base system prompt with usage guidance."),
    "R116": due(
        "When to use, what it returns, parent clock warning, zombie note, depth note all in the prompt/description."
    ),
    "R117": due(
        'Exhaustive mapping: success→(success, lastStepNotes or ""), error→(error, message), timeout→(timeout, '
        "message), delivery_failed→(error, deliveryError).",
        departure="C30",
    ),
    "R118": due("`execute()` never throws for child failure."),
    "R119": due("Depth error returns childSessionId null, outcome error, notes starting `Max spawn depth exceeded`."),
    "R120": due("Start error returns childSessionId null, outcome error, the message."),
    "R121": due(
        "In every other case childSessionId is present, including a child that failed before its first turn.",
        departure="C19",
    ),
    "R122": due(
        "Pre-create the session, decode the id, then run with the pre-allocated start response; start is not "
        "called twice (exactly one session per spawn)."
    ),
    "R123": due("Child trigger carries spawnDepth = parent + 1."),
    "R124": due(
        "`session_created.data` accepts optional parentSessionId; absent → `{}`; unknown keys stripped; old logs "
        "still load."
    ),
    "R125": due("parentSessionId reaches session_created.data, not only context_set."),
    "R126": due(
        "Public start-workflow input schema unchanged; parent id flows only internally (an external caller cannot "
        "forge it)."
    ),
    "R127": reason(
        "about code: `engine.spawning.spawn` is given the transaction, the compiler and the parent; nothing is global",
        "Factory takes its dependencies by injection (session id, ctx, key, parent id, depth, max, runner fn, "
        "emitter); no globals; testable with a fake runner.",
    ),
    "R128": due("Trigger `parentSessionId`, `spawnDepth` optional and read-only."),
    "R129": due("`maxDepth = agentConfig.maxSubagentDepth ?? 3`."),
    "R130": reason(
        "nothing is allocated beforehand by a caller: the session is on record before any process (ARCHITECTURE.md)",
        "Doc comment of the pre-allocated field lists spawn_agent as a caller.",
    ),
    "R131": due("If the parent's own id cannot be decoded, the tool is omitted or made safe."),
    "R132": due(
        "Parent timeout while child runs: parent aborts and does not advance; child finishes; link intact.",
        departure="C29",
    ),
    "R133": due(
        "Crash between create and run leaves an observable session with its parent link. It is later reaped as "
        '`zombie`/`orphaned`, not "running" forever.'
    ),
    "R134": due(
        "Width not limited in phase 1. Per-run total cap and per-call cap (10) with a typed error.", departure="C3"
    ),
    "R135": due("Notifier for child sessions: none; only roots notify (notification plan in the same release)."),
    "R136": due("Stuck is a distinct outcome; artifacts and issue summaries returned when present, absent otherwise."),
    "R137": due("Parallel form keeps input order, one child's failure does not fail the others."),
    "R138": due("Child activity resets the parent's stall timer."),
    "R139": due("Kill of the parent aborts the children."),
    "R140": due("Children visible as live and as a tree: list children of X, ancestors of X, whole tree."),
    "R141": due(
        "Child limits either inherited or explicitly set; parent refuses to spawn when its remaining time is "
        "below the child's budget."
    ),
    "R142": due("`allowedTools` enforced or rejected, never ignored."),
    "R143": due(
        "Seed phase 2, ours to decide: `spawn_session` + `await_sessions`, bare-prompt child without workflow, "
        "session tree query, zombie cleanup, width guard."
    ),
    "R144": due("Notification service: two channels (native, webhook), config keys in config file."),
    "R145": due(
        "Goal truncated to 60 characters (57 + `...`); payload event `session_completed`, workflowId, outcome, "
        "detail, goal, ISO timestamp."
    ),
    "R146": due("Wrong platform or bad URL: one warning at start, channel off; no channel configured: no service."),
    "R147": due("Notify never raises, never delays or changes the result."),
    "R148": due(
        "Stuck detection: same tool+same args 3 times; ≥80 % turns with zero advances; timeout approaching; fatal "
        "issue reported."
    ),
    "R149": due("Stuck event carries reason, tool, args summary (≤200 chars), turn count."),
    "R150": due("gap/advance event schema additions backward compatible."),
    "R151": reason(
        "about the process of another project, not about a behaviour",
        "Backlog consolidation plan (5 headings, ≥5640 lines, one insertion point, no doubled `---`, branch not "
        'main, commit message, single PR): process text. If wanted as a behaviour: an "insert block before '
        'heading" helper that is idempotent, loses nothing and reports the count.',
    ),
    "R152": reason(
        "rules about code, not a behaviour: the import contracts, strict types and frozen values hold them",
        "Philosophy lines as rules for our code: errors as data, immutability, injected boundaries, validate at "
        "boundaries, illegal states unrepresentable, exhaustiveness, no writes to main.",
    ),
    # Plans that persist, work that chains.
    "R153": due("Implement task in a fresh worktree can read the plan."),
    "R154": due("`output_content TEXT` nullable column on tasks.", departure="C2"),
    "R155": due("Migration v3→v4 by `ALTER TABLE tasks ADD COLUMN`; existing rows NULL; re-run safe.", departure="C5"),
    "R156": due("`Task.output_content: str|None = None`."),
    "R157": due("`report_file` kept (optional rename `output_file`).", departure="C20"),
    "R158": due("Local: file on disk `.gza/plans/{id}.md`, report_file = path, output_content = contents."),
    "R159": due("Distributed: report_file NULL, output_content = text.", departure="C31"),
    "R160": due("Applies to plan, explore and review outputs."),
    "R161": due(
        "`_run_non_code_task` reads the report if it exists and passes it to mark_completed; missing file → None "
        "and the task still completes per its rules."
    ),
    "R162": due(
        "`mark_completed(task, branch=None, log_file=…, report_file=…, output_content=…, has_commits=False, stats=…)`."
    ),
    "R163": due("`_get_task_output(task, project_dir)`: DB content first, then file, then None."),
    "R164": due(
        "Empty string in DB: defined behaviour (the seed's truthiness falls through to the file).", departure="C34"
    ),
    "R165": due("Falls back to the file when the column is NULL (old tasks)."),
    "R166": due("Returns None when neither exists; no exception. Unreadable/binary file handled."),
    "R167": due(
        "`_build_context_from_chain` for `implement` with `based_on`: finds the plan in the chain and embeds it "
        "under `## Plan to implement:\\n`."
    ),
    "R168": due(
        '`_find_task_of_type_in_chain(based_on, "plan", store)`: nearest plan; handles cycles and missing parents.'
    ),
    "R169": due("Plan found but content unavailable → explicit marker in the prompt."),
    "R170": due("No file copying into the worktree is needed."),
    "R171": due("Works with and without Docker (content flows through the prompt)."),
    "R172": due(
        '`TaskStore` is a `typing.Protocol`: add(prompt, task_type="task", …)→Task; get(int)→Task|None; '
        "get_next_pending(); mark_in_progress(task); mark_completed(task, output_content=None, …); "
        "is_task_blocked(task)→(bool, int|None, str|None)."
    ),
    "R173": due(
        "`SqliteTaskStore` and `PostgresTaskStore` both satisfy it; one shared contract test suite runs on both."
    ),
    "R174": due("Config `database.type: sqlite` default, path derived `~/.gza/{project}.db`.", departure="C20"),
    "R175": due("Config `database.type: postgres`, `url: postgres://…`."),
    "R176": due("Missing url, unknown type, missing driver: clear errors; URL password never printed."),
    "R177": due("Existing tasks without content fall back."),
    "R178": due("Plan file still on disk for people."),
    "R179": reason(
        "it is documentation: docs/worktrees.md says it",
        "Trade-offs documented: DB size, prompt size, duplication (1-10 KB).",
    ),
    "R180": due(
        "get_next_pending honours dependencies and order; claim is atomic (two workers never get the same task; "
        "`SELECT … FOR UPDATE SKIP LOCKED` on Postgres)."
    ),
    "R181": due(
        "is_task_blocked names the blocking id and status; failed or dropped dependency stays blocking with a reason."
    ),
    "R182": due("Edited plan on disk: newer-file option or `sync-report`.", departure="C21"),
    "R183": due("Very large plan: prompt budget and truncation marker."),
    "R184": due("Report path confined to the project (no `../` escape, no symlink escape)."),
    "R185": due("Worktree reuse never deletes uncommitted work."),
    "R186": due('Implementation order in "Migration Path" satisfied incl. step 5 (Postgres) which the seed defers.'),
    "R187": due("Review tasks also find their implement and plan in the chain."),
    "R188": due("Goals 1-4 each have a test."),
    # Three layers of work: tables.
    "R189": due("projects(id, path UNIQUE NOT NULL absolute, name, created_at)."),
    "R190": due(
        "skills(… project_id FK NOT NULL, name NOT NULL, phases, modes, templates, cmd_dependencies, next_skills, "
        "directives JSON, updated_at, UNIQUE(project_id,name))."
    ),
    "R191": due(
        "tasks(dir_path PK, project_id FK NOT NULL, workspace, title, description, keywords, created_at); no "
        "lifecycle, no skill column.",
        departure="C33",
    ),
    "R192": due(
        "efforts(id, task_id FK CASCADE, skill, mode, ordinal, lifecycle default 'active', current_phase, "
        "discovered_directives, discovered_directories, metadata, created_at, finished_at, UNIQUE(task_id, "
        "ordinal))."
    ),
    "R193": due(
        "sessions(id, task_id FK CASCADE, effort_id NOT NULL FK, prev_session_id self FK, pid, heartbeat_counter "
        "default 0, last_heartbeat, context_usage REAL 0..1, loaded_files, dehydration_payload, created_at, "
        "ended_at)."
    ),
    "R194": due("phase_history(effort_id FK CASCADE, phase_label NOT NULL, proof JSON, created_at)."),
    "R195": due(
        "messages(session_id FK CASCADE, role NOT NULL, content NOT NULL, tool_name, timestamp).", departure="C26"
    ),
    "R196": due("agents(id TEXT PK, label, claims, effort_id FK)."),
    "R197": due(
        "embeddings(source_type, source_path, chunk_text, embedding BLOB float32, updated_at).",
    ),
    "R198": due("Nine tables, four views, three indexes; version 3.", departure="C5"),
    "R199": due(
        "Foreign keys on. CHECKs: lifecycle ∈ {queued, active, finished}, role ∈ four values, context_usage range.",
        departure="C27",
    ),
    "R200": due("Deleting a task whose effort an agent holds works or fails with a clear error."),
    "R201": due(
        "`fleet_status`(agent, label, skill, current_phase, heartbeat_counter, context_usage), LEFT JOIN open session."
    ),
    "R202": due(
        "`task_summary` with effort_count, latest_skill, last_activity; latest_skill must be the latest, not MAX.",
        departure="C28",
    ),
    "R203": due(
        "`active_efforts` must not drop efforts without a cached skill nor multiply across projects.", departure="C28"
    ),
    "R204": due(
        "`stale_sessions`: open and heartbeat older than 5 minutes; a NULL heartbeat counts from created_at.",
        departure="C28",
    ),
    "R205": due(
        "idx_efforts_task_lifecycle, idx_sessions_effort_ended, idx_messages_session_ts exist and are used (EXPLAIN)."
    ),
    # Three layers of work: what they mean.
    "R206": due("Tasks never finish; active/dormant derived from efforts."),
    "R207": due("Several efforts per task, including the same skill twice; concurrent efforts allowed."),
    "R208": due(
        "Ordinal = MAX+1 per task, atomic under concurrent starts (N parallel starts → 1..N, no gap, no duplicate)."
    ),
    "R209": due("Effort start returns artifact prefix such as `1_BRAINSTORM`.", departure="C10"),
    "R210": due("Every session serves exactly one effort; ad-hoc work makes a lightweight effort."),
    "R211": due("The pid is informational only; no PID guard on any RPC."),
    "R212": due("loaded_files updated on each Read by the post-tool hook."),
    "R213": due("One dehydration payload per session, on the session row."),
    "R214": due("Directives and directories live on the effort."),
    "R215": due("Skill data not copied to efforts; resume re-reads the current skill."),
    "R216": due(
        "Overflow: payload + ended_at on the old session, new session with prev_session_id, resumes at the same phase."
    ),
    "R217": due(
        "Skill transition: finish effort, start the next (ordinal+1), same session continues with effort_id updated.",
        departure="C13",
    ),
    "R218": due("brainstorm→implement→brainstorm gives independent phase histories."),
    # Three layers of work: operations.
    "R219": due("db.project.upsert(path, name?) idempotent."),
    "R220": due(
        "db.task.upsert(dir_path, workspace?, title?) idempotent; project resolved from the path prefix (longest "
        "match). Null args keep old values."
    ),
    "R221": due("db.task.find by keyword, workspace, project."),
    "R222": due("db.task.list(project?)."),
    "R223": due("db.effort.start(task_id, skill, mode?, metadata?)."),
    "R224": due(
        "db.effort.finish(effort_id, keywords?): finished + finished_at; task keywords updated if given; "
        "idempotent; keywords merge.",
        departure="C9",
    ),
    "R225": due(
        "db.effort.phase(effort_id, label, proof?): sequential enforcement; proof validated and stored; heartbeat "
        "reset; sub-phase auto-append; same phase = no-op (no history row)."
    ),
    "R226": due("Skipping or going back needs an explicit reason, recorded."),
    "R227": due("db.effort.list(task_id) ordered by ordinal."),
    "R228": due("db.effort.validate(effort_id): pass/fail per check."),
    "R229": due(
        "db.session.start(task_id, effort_id, pid?, prev_session_id?): ends the previous active session of the "
        "same agent.",
        departure="C12",
    ),
    "R230": due("db.session.finish(session_id, dehydration_payload?)."),
    "R231": due("db.session.heartbeat increments and stamps."),
    "R232": due("db.session.updateContextUsage(float)."),
    "R233": due("db.session.updateLoadedFiles(files)."),
    "R234": due("db.session.find by task, effort or agent."),
    "R235": due("db.skills.upsert/get/list/delete/find with (name, project_id)."),
    "R236": due("db.messages.append, db.messages.list(limit?, offset?) paginated."),
    "R237": due("db.agents.register/get/list (register updates, keeps fields not given)."),
    "R238": due(
        "search.upsert/query/delete/status/reindex with the given filters; project-scoped by default, "
        "cross-project opt-in.",
        departure="C14",
    ),
    "R239": due(
        "hooks.sessionStart(agent_id, pid): creates or finds; returns session row, effort context (phases, "
        "current phase, required files as paths), dehydration payload if resuming."
    ),
    "R240": due(
        "hooks.preToolUse(session_id, tool, args) → `{allow:true}` or `{block:true, reason, injection}`; checks "
        "heartbeat threshold and directive gate; replaces 3 hooks in one call.",
        departure="C32",
    ),
    "R241": due(
        "hooks.postToolUse(session_id, tool, result) → `{injections[], updated state}`; heartbeat, loaded_files "
        "on Read, discovered directories; replaces 4 hooks."
    ),
    "R242": due("hooks.userPrompt(session_id, prompt): appends to messages; returns formatted content."),
    "R243": due(
        "11 further lifecycle hooks (15 total): sessionEnd, postToolUseFailure, preCompact, permissionRequest, "
        "notification, stop, subagentStart, subagentStop, taskCompleted, teammateIdle; the fifteenth in the "
        "shipped code is fleet-start. The seed names only the count, so publish ours."
    ),
    "R244": due(
        "Hook output wrapped as Claude expects: `hookSpecificOutput.hookEventName` always present; deny carries a "
        "reason; UserPromptSubmit text kept under ~9 K characters."
    ),
    "R245": due(
        "Heartbeat defaults warn 3 / block 10, resettable by logging; own CLI commands exempt; loading and "
        "dehydrating bypass.",
        departure="C32",
    ),
    "R246": due("Starting a sub-agent does not end the parent's session."),
    "R247": due(
        "commands.effort.start: skill parse, task upsert + effort + session, RAG search, directive discovery, "
        "markdown `## SRC_*`; rollback on failure leaves no rows.",
    ),
    "R248": due(
        "commands.session.continue(dir?): last session of the agent, new linked session, required files, "
        "formatted output."
    ),
    "R249": due(
        "commands.log.append: prefix from the effort, timestamp injected, appended to `{ordinal}_{SKILL}_LOG.md`."
    ),
    "R250": due("fs.files.read, fs.files.append, fs.paths.resolve."),
    "R251": due("ai.generate, ai.embed provider-agnostic."),
    "R252": due("agent.directives.discover/dereference/resolve; agent.skills.parse/list."),
    "R253": due(
        "Every RPC validated by schema; bad args → typed error naming the field; unknown command → typed error."
    ),
    "R254": due("All verbs consistent start/finish and idempotent.", departure="C9"),
    "R255": due("effort.start is one transaction."),
    # Transport and process.
    "R256": due(
        "Unix domain socket, NDJSON, request and reply one line each; several requests per connection; partial "
        "and coalesced reads handled."
    ),
    "R257": due(
        "Request id echoed; oversize line refused; malformed JSON answered without dropping the connection; "
        "non-UTF-8 handled."
    ),
    "R258": due("DB at `.claude/.engine.db` by default.", departure="C20"),
    "R259": due(
        "Daemon never opens files other than its DB (INV_DAEMON_IS_PURE_DB); provable by an import or syscall check.",
        departure="C7",
    ),
    "R260": due("INV_ONE_ACCESS_PATH: all access by RPC or `engine query`."),
    "R261": due("INV_NO_DAEMON_RECURSION: a handler never dials its own socket."),
    "R262": due("INV_HARD_FAILURE: daemon down → exit 1, no silent fallback.", departure="C22"),
    "R263": due(
        "INV_DAEMON_IS_THE_LOCK: concurrent mutations serialise; 100 parallel clients produce no lost update and "
        'no "database is locked".'
    ),
    "R264": due("Stale socket and stale PID cleaned; second start refused; socket mode 0600."),
    "R265": due("`query` is read-only by default."),
    # Fleet and ownership.
    "R266": due("agents.effort_id is ownership; agent has at most one active effort."),
    "R267": due("An effort held by an agent cannot be taken by another (typed error naming the holder)."),
    "R268": due('fleet_status answers "who is doing what" in one query.'),
    "R269": due(
        "Acquisition by agent id; open last session → resume the same context (`claude --resume`), closed → new "
        "session linked."
    ),
    "R270": due("INV_SESSION_CONTINUITY: prefer resume over a new session."),
    "R271": due(
        "Status line `[brainstorm:P1]` for the first effort; `[2:impl:P3]`, `[3:brainstorm:P2]` later: ordinal "
        "shown only when > 1."
    ),
    "R272": due("Artifacts `{ordinal}_{SKILL}.md`, `_LOG.md`, `_PLAN.md`, UPPER_SNAKE."),
    "R273": due("New effort lists debriefs of finished prior efforts of the same task."),
    "R274": due("Messages table is the transcript of record; no DIALOGUE.md written."),
    "R275": due("Output markdown format (`## SRC_*`) stable."),
    "R276": due("Missing skill = error.", departure="C8"),
    "R277": due("Schema migration by drop and recreate.", departure="C4"),
    "R278": due("Decision registry rounds 1-20 each traceable to a behaviour or a recorded departure."),
    "R279": due(
        'Adversarial cases named in "Hardening": null skill, rollback, corrupt JSON, schema validation, '
        "zero-effort recovery."
    ),
    "R280": due("57 RPCs / 386+ tests are the seed's own counts; publish ours by machine.", departure="C25"),
    # What exists only because it is one system.
    "R281": due(
        "One spawn writes, in one transaction: spawn pointer (000), child session with parent id (002), "
        "effort/session rows (004), job row (003), first turn (001)."
    ),
    "R282": due(
        "Any child can be reached from any of its five identities (tract id, run id, session id, task id, effort "
        "id) with one lookup."
    ),
    "R283": due(
        "Collapse of a child is what the parent receives as `notes`, and is stored as output_content of the "
        "child's job."
    ),
    "R284": due(
        "Resume of a run restores conversation from the tract, remaining tasks from the store, and the phase from "
        "the effort."
    ),
    "R285": due("Overflow handover writes a `handoff` boundary commit whose fields become the dehydration payload."),
    "R286": due(
        "Depth, width, time and token budgets enforced at one place for every spawn path (CLI, tool, RPC, watch)."
    ),
    "R287": due("Cycle check (000) and task-DAG check (001) share one error type."),
    "R288": due("Plan content reaches an implement child through compile, not through a file."),
    "R289": due("Stuck rules (002) and stale view (004) report the same session with one status word."),
    "R290": due("One event stream drives console, notifications, `logs --follow` and hooks.", later_part="console"),
    "R291": due("Every status shown is derived from stored facts; no status column can disagree."),
    "R292": due("A killed daemon loses nothing acknowledged; restart adopts live workers and reaps dead ones."),
    "R293": due("One writer; library, CLI and hooks all go through it; measured under load."),
    "R294": due(
        "Old databases of each kind (tract v2-v4, gza v3, Aurora checkpoint JSON, WorkRail session JSONL, Engine "
        "v3 DB) import without loss.",
        departure="C5",
    ),
    "R295": due("Import is idempotent and reports counts."),
    "R296": due("Secrets (API keys, DB URLs) never in logs, events, errors or the console.", later_part="console"),
    "R297": due("All timestamps UTC ISO-8601 with zone; no naive datetimes.", departure="C33"),
    "R298": due("Every limit in this list is a config key with its default and source shown.", departure="R357"),
    "R299": due("`doctor` checks tools in PATH, socket, DB version, worktree health, disk."),
    "R300": due("A no-op is reported as success with reason, never as failure."),
    "R301": due(
        'Every retry loop has a bound and an independent breaker; hitting it yields one visible "needs attention" item.'
    ),
    "R302": due("Uncommitted work is never deleted without an explicit flag naming the path."),
    "R303": due(
        "Agent-supplied facts that can be derived (commit SHAs, changed files, exit codes) are derived, not believed."
    ),
    "R304": due("Error messages name the field, the value and the fix; hints come from the contract that failed."),
    "R305": due("Hook latency budget stated and measured (p50/p99) since hooks run on every tool call."),
    "R306": due("Log and poll files rotate or are capped."),
    "R307": due(
        "Sessions and runs can be archived, listed with archived hidden, and purged with retention.",
    ),
    "R308": due("Names: no command called `checkpoint`."),
    "R309": due("Windows/no-Unix-socket fallback stated (or refused clearly)."),
    "R310": due(
        "Two operators on one Postgres store: claims exclusive, artifacts readable by both with no shared filesystem."
    ),
    "R311": due("Scripted fake agent CLI ships with the tests so every path runs offline."),
    "R312": due("Real agent CLIs are adapters: command template, prompt on stdin, session-id capture, resume flag."),
    "R313": due("Docs: glossary, one table mapping each seed term to ours, and one list of departures with reasons."),
    "R314": due("Machine-readable API list (RPC names, schemas, events) generated from code and checked in CI."),
    "R315": due("Migration test from each historical fixture, both directions of schema refusal."),
    "R316": due(
        "Load test: N sessions x M events; list, tree and stale queries stay inside stated bounds (the N+1 and "
        "606-subprocess failures are the negative examples)."
    ),
    "R317": due("Fuzz: NDJSON framing, tasks.md grammar, phase labels, checkpoint JSON."),
    # The second release: structure.
    "R318": due(
        "`engine`, `store`, `store/sql/queries`, `model`, `protocol` and the conformance tests have the same "
        "subject folders; `cli`, `daemon` and `runner` have the folders that DESIGN-2 section 1 names; a contract"
        " orders the subjects of each layer and forbids cycles between siblings; no folder below `src/ramet` has "
        "more than 15 entries, `__init__.py` not counted (exceptions, in the test with their reason: `src/ramet` "
        "itself, migrations, vendored assets)."
    ),
    "R319": due(
        "Every operation is declared once, on its request class: name, purpose, reply, errors, scope, host, "
        "audience; a test proves that each has exactly one answering function whose annotation is that class and "
        "that reply."
    ),
    "R320": due(
        "`ask(request)` is typed by the request; no operation is called by string in `src/`, and a misspelt reply"
        " field in the CLI or the daemon fails type checking (a test runs the type checker on such a mistake)."
    ),
    "R321": due(
        "All knowledge of one vendor is in one folder; a vendor conformance suite runs for every folder; a test "
        "lists the files that name a vendor outside it, and the list is empty but for the registry, docs and "
        "tests."
    ),
    "R322": due(
        "Every module name of the engine, runner, daemon and keeper is a glossary word or a plain noun; the "
        "glossary has every working word that the code uses."
    ),
    "R323": due(
        "Internal operations are absent from the public reference and the library; compatibility operations have "
        "a page of their own."
    ),
    "R324": due(
        "Help, errors, README, docs and prompts follow STYLE's plain technical English; a check with a word list (the "
        "phrases that `house.md` section 6 names) runs in `make check`."
    ),
    "R325": due(
        "`ramet --help` fits 40 lines and shows the daily verbs first; `ramet help --all` lists every command; the "
        "context verbs live under `ramet history`."
    ),
    "R326": due(
        "The documentation opens with an agent doing work; README, quickstart and concepts are rewritten, and their "
        "commands run in the tests; the site builds without a warning and without a request to another host. Each "
        "later issue adds its recipe and its troubleshooting entries."
    ),
    "R327": due(
        "A project's `ramet.yaml` cannot set an owner key: it is ignored, named in `ramet config`, `doctor` and once "
        "on stderr; nothing of it runs in any command, `drivers` and `doctor` included."
    ),
    "R328": due(
        "`ramet trust` records path and content hash of a file; a changed file is untrusted again; `--list` and "
        "`--revoke` work; before it records a file, `ramet trust` shows what that file would be allowed to do."
    ),
    "R329": due(
        "The daemon's owner keys are the same whatever directory it is started from and whoever starts it; project "
        "keys are resolved per project."
    ),
    "R330": due(
        "A project can narrow limits and add redaction patterns; an attempt to widen or remove is ignored and reported."
    ),
    "R331": due(
        "Configuration above the project's root or `$HOME`, of another owner, or writable by others is not read, and "
        "`ramet config` says so."
    ),
    "R332": due(
        "A database file inside a project is not opened unless trusted; an opened database gets mode 0600 and its "
        "triggers and views are verified."
    ),
    "R333": due(
        "A child session never gets a wider profile, sandbox, tool set or permission mode than its parent, by MCP, by "
        "RPC and by CLI with an agent's token; `shell` and `command` are refused for agents unless the owner lists "
        "them."
    ),
    "R334": due(
        "On `agents.sock` every call needs a valid token; administration operations do not exist there; the user's "
        "socket is not reachable from a sandbox."
    ),
    "R335": due(
        "A session's token has three rings, declared on each operation: *own* (its session and those below: read and "
        "write), *chain* (the efforts of its chain, its run and what it is based on: read), *project* (read, only "
        "through `recall`, `search` and `why`, bounded to 4 KB an answer, off for a profile with `recall: false`). "
        "Everything else is `forbidden`, for every other operation, and for every project but its own. A generated "
        "test covers operations x rings x foreign subjects (session, project, effort, run, branch, commit, event "
        "stream).",
        later_part="the project ring, with the operations that search",
    ),
    "R336": due(
        "A token is refused after its session has ended and after key rotation; keys with wrong mode or size are "
        "refused; `ramet db reset` rotates."
    ),
    "R337": due(
        "The daemon's git runs no program that a repository names (hooks, filters, merge and diff drivers, textconv, "
        "fsmonitor, aliases, credential helpers, ssh commands, `ext::`), in every code path; an owner-allowed filter "
        "runs."
    ),
    "R338": due("Redaction sees decoded values: a secret at a line start inside a tool call's JSON is redacted."),
    "R339": due(
        "At least 60 vendor token shapes, keyword assignments, `Authorization` headers, URLs with credentials, private "
        "keys in any framing (line-number gutters, no end, encrypted, PGP, PuTTY) and high-entropy assignments are "
        "redacted; recall on the planted corpus is at least 99 % for vendor shapes and private keys and 95 % for "
        "keyword and entropy rules, with at most 1 false positive in 10,000 lines of the innocent corpus (code, lock "
        "files, hashes, UUIDs, base64 images, minified scripts); both corpora are generated by a seeded script and "
        "include shapes that the rules were not written from."
    ),
    "R340": due(
        "A secret split over streamed pieces, wrapped in colour codes, percent-encoded or inside JSON text is redacted."
    ),
    "R341": due(
        "No stored or written field is exempt (file names, branch names, agent names, native ids, tool names, spool, "
        "logs, reports, index): planted secrets are found in no file under `RAMET_HOME` and in no worktree report.",
    ),
    "R342": due(
        "`ramet redact --rescan` finds and `--purge` removes secrets that were stored before a rule existed, in blobs, "
        "spools, logs, reports, index, exports and backups that Ramet made. A purged blob keeps its hash, its size and "
        "a tombstone (who, when, why); commit hashes do not change; `db check` verifies every other blob and counts "
        "purged ones; `compile` and `show` print `[purged]`; export and import keep tombstones; the text is in no file "
        "under `RAMET_HOME` afterwards (free pages and WAL included).",
    ),
    "R343": due(
        "Replies, half-read input, decompression, query results, settings files and connections are bounded "
        "in bytes, count and age; the daemon's resident memory stays below 300 MB under each of these attacks "
        "and returns below 120 MB within a minute; short queries are answered while long ones run."
    ),
    "R344": due(
        "In `sandbox: workspace` and `strict` an agent can commit in its worktree, keep its vendor's session and call "
        "Ramet through `agents.sock`, and cannot: write elsewhere, change the repository's configuration or hooks, "
        "read the rest of the home or another project, see other processes, or reach the control socket; in `strict` "
        "it reaches only the allowed hosts, and refusals are recorded. Tested by a hostile program *and* by the real "
        "Claude Code and Codex doing a task inside. A preset that cannot be applied is an error."
    ),
    "R345": due(
        "The installer refuses to write through links that leave its scope, and bounds the size and depth of the files "
        "that it parses."
    ),
    "R346": due(
        "Dependencies are locked with hashes for development and CI; `make audit` reports known vulnerabilities when a "
        "database is reachable and says so when not."
    ),
    "R347": due(
        "A project's skills are found by `ramet add`, `run`, `chain` and `spawn`; the skill's text, phases, directives "
        "and templates reach the agent's prompt (also with the real programs)."
    ),
    "R348": due(
        "An agent that Ramet runs enters phases of its own effort (tool and CLI), sees refusals, submits proofs; `ps`, "
        "status line and gates show and use them. [R216-R229 for agents that Ramet runs]"
    ),
    "R349": due(
        "`ramet effort start DIR SKILL` is the seed's compound command for built-in and project skills alike: task, "
        "effort, session, debriefs, directives, `## SRC_*`. [R247, R273]"
    ),
    "R350": due(
        "`db.effort.validate` performs the seed's three checks (bare tags, checklists, request files) beside ours. "
        "[R228]"
    ),
    "R351": due(
        "Session start injects the project's standards, and tool hooks inject templates and phase commands, as seed "
        "004 lists them. [R241]"
    ),
    "R352": due(
        "A run's prompt is the compile of its branch: compress, skip, edit and reset change the next prompt as they "
        "change `compile`; a run can continue on a fork; a run whose branch was never rewritten gets prompts "
        "byte-identical to today's; prompt number 10,000 costs at most 1.5 times number 100."
    ),
    "R353": due(
        "`SpawnInfo`, `CollapseResult`, `SessionError` and the store interfaces are what the library returns, "
        "raises and implements; constructors validate."
    ),
    "R354": due(
        "A child that inherits no history is recorded with the mode `none`; selective inheritance is available to "
        "`spawn_agent`."
    ),
    "R355": due(
        "`TaskStore` works over `ramet.connect()`, has a docs page, and shares the default database with `ramet work`."
    ),
    "R356": due(
        "Every departure from a seed is listed with its reason; a table maps every command, column, type and file name "
        "of the seeds to ours, checked by a test against `tests/data/seed_names.json`, which lists every command, RPC, "
        "column, type and file name of the five documents (extracted once and reviewed by hand)."
    ),
    "R357": due(
        "Every limit is a configuration key or is listed as a constant with its reason; hook latency is reported as "
        "p50, p95 and p99."
    ),
    "R358": due(
        "Refused tool calls are recorded, counted and shown in `show`, `ps`, reports and one notice that "
        "names the rule that would allow them.",
    ),
    "R359": due(
        "An effort whose skill changes code (`implement`, `improve`, or a project skill with `changes: code`)"
        " and that changed no file ends with the outcome `no_change` and a reason that counts the refused "
        "calls. It is not a failure: exit status 0, no retry, no breaker, `runs show` and `spawn` results "
        "name it. It does not satisfy dependents unless `--accept-no-change` or the line's `Accept: "
        "no_change` says so. For `do`, `plan`, `explore`, `review` and `shell` a no-op stays a success with a"
        " reason. [amends R300 and DESIGN 8; the glossary, both check constraints (a new migration) and the "
        "spawn mapping change together]",
    ),
    "R360": due(
        "An agent whose turn is over but whose program lingers ends with the driver's outcome after a grace period; "
        "its background processes are ended."
    ),
    "R361": due(
        "A planner or reviewer that changed files, and a verdict that cannot be read, are named in the row, "
        "the report and a notice.",
    ),
    "R362": due(
        "Efforts start at the current `HEAD` of the caller's checkout; `--base`; uncommitted changes are "
        "named; `--with-changes` takes them along; the base is shown and stored. A queued effort starts at "
        "the `HEAD` of the moment when it was added; the next effort of a chain starts at its predecessor's "
        "result. The commit that `--with-changes` makes is marked: `land` leaves it out unless `--include-"
        "changes`, and says so.",
    ),
    "R363": due("A `.git` entry that is not a repository is ignored; the tests pass below such a folder."),
    "R364": due(
        "Expired login, bad key, empty credit and usage limits (with a date, a clock time, or no time) park the driver "
        "and put the effort back; one notice per limit; a task's own failure never parks a driver; `ramet drivers "
        "release` always releases."
    ),
    "R365": due(
        "The program that `ramet drivers` finds is the program that the daemon runs; a difference is reported"
        " with both paths.",
    ),
    "R366": due(
        "Claude Code started in a sub-directory of an initialised project is recorded; `hooks status` and "
        "`doctor` report what would happen in the current directory. With user scope only sessions inside "
        "registered projects are recorded; elsewhere the hook answers nothing and stores nothing unless the "
        "owner sets `hooks.record: all`; the first unregistered project gets one hint.",
    ),
    "R367": due("The first session after a reboot gets its rules and its resume contract."),
    "R368": due("Sub-agents of agents that Ramet runs are child sessions, recorded once, with and without hooks."),
    "R369": due("Hand-started Codex has working tools of Ramet's, bound to its session."),
    "R370": due("A session at a permission dialog is `waiting_approval` in `ps` within two seconds."),
    "R371": due(
        "Every session has context fill and cost in `ps` while it works (reported, else estimated from a "
        "price table and marked); unknown is `-`.",
    ),
    "R372": due(
        "Provider variables reach agents by a documented list per driver; a missing variable is reported with"
        " the key that lets it through.",
    ),
    "R373": due("Images in prompts and tool results are kept as blobs and come back in `undo` and `compile`."),
    "R374": due(
        "`ramet config` works with every configuration that the docs show; `config set|unset` edit the user's"
        " file and keep comments.",
    ),
    "R375": due(
        "`ramet completion bash|zsh|fish` works, with ids, branches and titles; typing a prefix never prints help or a "
        "traceback."
    ),
    "R376": due("Dependents of a failed line are skipped and run on resume; `--keep-going` runs them."),
    "R377": due(
        "A misspelt directive or an unknown agent, skill or model profile in a task file is an error with "
        "line and suggestion, in `--dry-run` too.",
    ),
    "R378": due("`ramet db restore` restores a backup after a check, and keeps the replaced database."),
    "R379": due(
        "`ramet uninstall` stops the daemon, removes hooks and MCP entries from every place where they were "
        "installed, and asks, file by file, whether to delete what remains.",
    ),
    "R380": due(
        "`ramet import` discovers the sessions of at least eight agent programs, shows counts and dates "
        "first, and imports with progress; sources are never written.",
    ),
    "R381": due(
        "Importing twice writes no row; growing files continue; forks, replays and both old and new formats "
        "of one session give one session.",
    ),
    "R382": due(
        "An imported session is closed, belongs to its project, keeps its recorded times, usage and cost, has"
        " its sub-agents as children, and is redacted.",
    ),
    "R383": due(
        "Interrupting an import at any point and repeating it gives the same database as an undisturbed one.",
    ),
    "R384": due(
        "The databases and files of the five seed systems import without loss.",
    ),
    "R385": due(
        "`search.upsert|query|delete|status|reindex` and the seed's filtered names answer as seed 004 says.",
    ),
    "R386": due(
        "`ramet search` finds messages, prompts, outputs, reports, notes, decisions, handoffs, commands, "
        "paths and errors; every hit names session, place, time, rung and the command that opens or resumes "
        "it.",
    ),
    "R387": due(
        "Identifier parts (camelCase, snake_case, path components), diacritics, CJK and quoted phrases are "
        "found; a typo gets a suggestion or a labelled fuzzy hit.",
    ),
    "R388": due(
        "The index is derived: deleting it loses nothing; it lags visibly, resumes after SIGKILL, rebuilds in"
        " the background when its version changes, and while it builds, the p95 of a hook and of a durable "
        "write is at most 1.2x that without it.",
    ),
    "R389": due(
        "Filters combine and are checked; an unknown filter is an error with the known ones.",
    ),
    "R390": due(
        "Search results respect scopes: an agent's token finds only its own project's history.",
    ),
    "R391": due(
        "`recall` (MCP and CLI) answers in at most 4 KB with ids that the same caller can open through "
        "`recall` (`recall s7:120`), again bounded; nothing relevant gives an empty answer.",
    ),
    "R392": due(
        "`## SRC_RELEVANT_DOCS` and related sections of the briefing are filled from search, bounded, and "
        "abstain when nothing is relevant.",
    ),
    "R393": due(
        "Embeddings are optional, offline by default, never downloaded, versioned by a fingerprint; with them"
        " on, lexical first hits never get worse on the test corpus.",
    ),
    "R394": due(
        "`ramet fix`, `how` and `files` answer from recorded commands, exit statuses, errors and edits.",
    ),
    "R395": due(
        "`ramet why path:line` names commit, edit, prompt, effort and task for lines that supervised agents "
        "wrote, after rebase, squash, reformatting and moves; it says `unknown` otherwise and is never wrong "
        "on a control set.",
    ),
    "R396": due(
        "`ramet usage` aggregates by day, project, model, agent, skill and effort; each call is counted once,"
        " sub-agents included; estimates are marked.",
    ),
    "R397": due(
        "Daily and project budgets stop new work and raise one notice; a forecast is shown before a fan-out; "
        "an agent can ask what is left of its budget and what each child used. A bound in dollars ends the "
        "running agent when its (estimated) cost passes it, with the outcome `budget`; `add`, `chain` and "
        "`spawn` take `--max-cost` and `--max-tokens`; a bound that cannot be measured is refused when it is "
        "set.",
    ),
    "R398": due(
        "`ramet export` and import round-trip to identical hashes; ATIF documents validate against the JSON "
        "schema that we derive from RFC 0001 v1.7 (kept in `tests/data` with its source named); Markdown is "
        "readable.",
    ),
    "R399": due(
        "Sessions can be archived, purged and kept by retention rules; purging removes text, with the "
        "tombstones of R342.",
    ),
    "R400": due("`ramet diff` shows the change of an effort, a run or a chain with stat, colour and pager."),
    "R401": due(
        "`ramet land` previews, checks and lands in dependency order; only a commit that passed the checks moves the "
        "target, by compare-and-swap."
    ),
    "R402": due(
        "Landing is durable: SIGKILL at any point leaves the target at a tested commit, and the queue continues."
    ),
    "R404": due(
        "A red check or conflict stops its entry and its dependents only, with a notice that says which check or which "
        "files."
    ),
    "R406": due(
        "A dirty checkout is never touched; a clean checkout of the target fast-forwards; `ramet undo` of the last "
        "landing restores the previous tip; if something landed after it, or the branch was pushed, it makes a tested "
        "revert commit instead, and says which."
    ),
    "R407": due(
        "Contained branches, kept refs and worktrees are tidied after landing; nothing that exists nowhere else is "
        "deleted."
    ),
    "R413": due(
        "Inside a project every listing, `work`, `inbox` and clean-up command is limited to that project; "
        "`-A` shows all with a project column.",
    ),
    "R447": due(
        "No request delays another client's hook or durable write by more than 50 ms on a quiet machine, "
        "whatever it reads; memory stays within 200 MB; readers are interrupted when the daemon stops."
    ),
    "R451": due(
        "No check, set-up command or driver that a branch adds or changes runs before the owner has trusted it: not by "
        "an agent's default policy, not by `land`, not by `doctor`. A landing that changes `ramet.yaml`, "
        "`.worktreeinclude`, `.mcp.json`, `.claude/`, `.codex/`, `.gitattributes` or git hooks says so in its preview "
        "and never lands automatically. (The landing half is proved with the landing issue.)",
        later_part="landing; checks and set-up commands with the work that brings them",
    ),
    "R452": due(
        "With the default policy a queued Claude Code and a queued Codex edit, run a trusted check and "
        "commit; a refused call is shown with the rule that would allow it; `ramet allow` adds the rule and "
        "resumes in the same context window; `doctor` lists what the policy refuses for each installed "
        "program; a chained or substituted command does not pass a prefix rule.",
    ),
    "R453": due(
        "At 80 columns `ps`, `queue`, `tree` and `runs show` each show who (one name for an agent everywhere: "
        "driver, then reference), what it does now (the latest prompt or tool, not the first), the state in words "
        "and colour, age and cost; golden screens at 80 and 140 columns."
    ),
    "R454": due(
        "`pip install ramet` gives a working install: MCP tools included, no extra needed for Claude, Codex, "
        "hooks, search, `ps` and landing; sdist and wheel build, and install with pip, pipx and `uv tool` in "
        "the tests; the CLI says which extra a missing feature needs.",
        later_part="search and landing need no extra: with the work that brings them",
    ),
    "R455": due(
        "The resume contract and the briefing carry the commands that worked in this effort (with exit "
        "status), bounded: at session start at most 2 KB of recall, at most 1.5 KB per prompt, 0 bytes if "
        "nothing is relevant; tokens spent on injected text are counted in `usage`.",
    ),
    "R458": due(
        "`worktree.setup` (a trusted command) and `.worktreeinclude` prepare every worktree, of agents and of"
        " landings, once per lock file: the result is reused by copy-on-write or hard links if the listed "
        "lock files are unchanged; each worktree gets `RAMET_PORT_BASE`, a free block of ten ports; a failing"
        " set-up is an infrastructure outcome with its log.",
    ),
    "R459": due(
        "Upkeep (idempotency replies, leases, caches) runs by deadline and not when the queue happens to be "
        "idle: with a write every 0.2 s a stale reply is removed; the WAL returns to its size limit after a "
        "long reader; `ramet daemon stop` interrupts running reads; `ramet doctor` takes at most 2 s on a 1 "
        "GB database and names `ramet db check` for the rest, which shows progress and at most 100 findings."
    ),
    "R460": due(
        "A compile with `max_tokens` reads only the range that it needs; the compile cache is bounded in "
        "bytes; text above the request limit can be sent in parts."
    ),
    "R461": due(
        "Also with the real programs: `.mcp.json` loads our tools before the first turn; messages of the "
        "program itself are not shown as `tool stderr`; Claude's TUI shows a short hook command; forks have "
        "an edge to their origin; `/rename` names the session.",
    ),
    "R462": due(
        "A failure before an agent begins (disk, git, worktree, set-up, keeper) is the host's: the effort "
        "returns to the queue without using up an attempt and is not offered to the same host first; permanent "
        "failures are a closed list. After several such failures in a row the host stops claiming (an event, one "
        "notice, `doctor` and `ps` on every host), probes later, and resumes by itself. A host checks its free "
        "disk space before it claims.",
    ),
    "R463": due(
        "Applied migrations are recorded with a hash, and a database whose recorded migrations differ from "
        "ours is named at open. A test refuses a changed migration file. Golden dumps of every landed schema "
        "version, both databases, are opened, migrated and exercised. The backup before a migration is made "
        "from the old schema's own catalog. `db check` compares the real schema with the expected one."
    ),
    "R464": due(
        "`ramet db check` always returns findings, on a damaged file too. The first sign of corruption in any "
        "operation raises an event and a notice and makes the daemon read-only. Backups are made daily and "
        "rotated; `db restore [latest]` (R378) and `db salvage` exist. A missing, empty or older file in place of "
        "a known database is refused and named, with the backups that exist."
    ),
    "R465": due(
        "`daemon.hello` carries build, schema and protocol. After an upgrade the CLI replaces an older daemon by "
        "itself (agents keep running); an older CLI gets one clear line; every build has its own version string."
    ),
    "R466": due(
        "After an outage longer than a lease, holders that finished meanwhile report first: their result is "
        "accepted unless a new attempt has already begun. No finished work runs again because the database was away."
    ),
    "R467": due(
        "Whatever hosts compare (leases, `not_before`, parking, retention, event times) uses the database's "
        "clock; clock skew is measured at connect and shown by `doctor`."
    ),
    "R468": due(
        "No two agents of one effort run at once if a keeper is frozen, its disk hangs or its machine sleeps: a "
        "second guard ends the agent when its lease ends."
    ),
    "R469": due(
        "One tested table maps SQLSTATEs and SQLite result codes to typed errors with a fix (read-only server, "
        "statement and lock timeouts, too many connections, disk full, descriptors exhausted); every operation has a "
        "deadline; `ramet work` continues after each of them; a daemon needs a stated number of connections and "
        "keeps one for reads."
    ),
    "R470": due(
        "A database or WAL file that is deleted or replaced under a running daemon is noticed before the next "
        "acknowledgement; nothing is acknowledged afterwards, and what memory holds is written to a rescue file."
    ),
    "R471": due(
        "Wherever a branch or commit is shown, its host is shown if it is not this one; `project add` says when a "
        "remote is a local path that other hosts cannot recognise.",
    ),
}
