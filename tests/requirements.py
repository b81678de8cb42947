"""Every behaviour that Ramet promises, by its number, and whether it is due in this release.

The numbers are stable. A test carries those it proves as `@pytest.mark.requirement("R208")`, and
`tests/test_requirements.py` checks both directions: nothing due without a test or a written reason, no number that
does not exist, nothing proved that this list still calls later.
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

    @property
    def is_due(self) -> bool:
        return self.later is None


def due(text: str, *, later_part: str | None = None) -> Requirement:
    return Requirement(text, later_part=later_part)


def later(work: str, text: str) -> Requirement:
    return Requirement(text, later=work)


def reason(why: str, text: str) -> Requirement:
    return Requirement(text, reason=why)


REQUIREMENTS: dict[str, Requirement] = {
    # Spawn pointers, and the migrations that bring them.
    "R1": due("spawns are recorded in the table spawn_pointers"),
    "R2": due("a spawn has an integer id"),
    "R3": due("a spawn names its parent"),
    "R4": due("a spawn names its parent's commit, and survives when that commit goes"),
    "R5": due("a spawn names its child"),
    "R6": due("a spawn says what it is for"),
    "R7": due("a spawn inherits full_clone, head_snapshot or selective"),
    "R8": due("a spawn may have a name to show"),
    "R9": due("a spawn has its time"),
    "R10": due("spawns are found by their parent through an index"),
    "R11": due("spawns are found by their child through an index"),
    "R12": due("a fresh database has the table of spawns"),
    "R13": due("a fresh database carries the current schema version"),
    "R14": due("an older database gains the new tables by itself"),
    "R15": due("a much older database goes through every step between"),
    "R16": due("running a migration again is safe"),
    "R17": due("a migration's record is visible to a second connection"),
    "R18": due("opening a current database changes nothing, and a newer one is refused"),
    "R19": due("a migration that was interrupted leaves a database that still migrates"),
    "R20": due("the interface of the store's verbs on spawns, SpawnPointers, is abstract and cannot be instantiated"),
    "R21": due(
        "the interface has exactly the six methods save, get, get_parent, get_children, get_all and has_ancestor"
    ),
    "R22": due("saving a spawn gives its row with an id"),
    "R23": due("a spawn is got by its id, or nothing is"),
    "R24": due("a child's parent is found, or nothing is"),
    "R25": due("a child has at most one parent; a second is refused"),
    "R26": due("a parent's children come in the order of their creation"),
    "R27": due("children of the same instant come in a stable order"),
    "R28": due("all spawns of a history, as parent or as child"),
    "R29": due("has_ancestor follows the chain of parents"),
    "R30": due("the chain is walked without recursion, and a cycle ends the walk"),
    "R31": due("nothing is its own ancestor; a spawn that would make a cycle is refused"),
    "R32": due(
        "the stored spawns implement all six on both databases, and an implementation that lacks one cannot be made"
    ),
    "R33": due("the store's verbs are not exported to users"),
    "R34": due("SessionContent is content of the type session"),
    "R35": due("a session boundary is start, end, handoff or checkpoint"),
    "R36": due("a session boundary has a summary"),
    "R37": due("decisions, failed approaches and next steps are lists, empty by default"),
    "R38": due("no two boundaries share a default"),
    "R39": due(
        "SpawnInfo is a frozen dataclass with 8 fields: spawn_id, parent_tract_id, parent_commit_hash, "
        "child_tract_id, purpose, inheritance_mode, display_name, created_at"
    ),
    "R40": due(
        "CollapseResult is a frozen dataclass: parent_commit_hash or None, child_tract_id, summary_text, "
        "summary_tokens, source_tokens, purpose"
    ),
    "R41": due("a collapse without a commit has no commit hash, and always a summary"),
    "R42": due("mutation of either raises FrozenInstanceError"),
    "R43": due("content of the type session is recognised as such"),
    "R44": due("session is a built-in content type"),
    "R45": due("a session boundary is pinned, of the role system, with compression priority 95"),
    "R46": due("the compressor reads the compression priority"),
    "R47": due("there is a default prompt for a collapse"),
    "R48": due("the prompt asks for outcomes, findings, failures and exact details"),
    "R49": due("build_collapse_prompt takes the messages, the purpose, a target and instructions"),
    "R50": due("the prompt states the purpose, asks, and carries the messages unchanged"),
    "R51": due("target and instructions appear only where given"),
    "R52": due("SpawnError and SessionError are errors of Ramet, and refused spawns and sessions raise them"),
    "R53": due(
        "every import path that the seed names has one here: the row, the stored spawns, the session content, "
        "the prompts, the errors"
    ),
    "R54": reason(
        "these are the behaviours of R1 to R53, whose tests carry their numbers",
        "the behaviours that the first design tested are tested",
    ),
    "R55": due("the parent's state is captured before the spawn is written into it"),
    "R56": due("no crash leaves a spawn without its parent's commit"),
    "R57": due("a collapse records the child and its head, and expand finds it"),
    "R58": due("a collapse with neither text nor model is refused with the fix"),
    "R59": due("a child may be collapsed several times and stays whole"),
    "R60": due("after a crash the latest history without an end is taken up again"),
    # Task files, accumulated context, resumable runs.
    "R61": due("a turn has role, content, time, tokens and metadata"),
    "R62": due("an accumulator holds 100,000 tokens and slides"),
    "R63": due("adding a turn stamps and estimates it"),
    "R64": due("four characters are a token"),
    "R65": due("trimming is considered above four fifths of the limit"),
    "R66": due("trimming keeps the first two and the last ten turns"),
    "R67": due("a few large turns end under the limit too"),
    "R68": due("the prompt joins the turns under their role, in order"),
    "R69": due("an unknown role is refused when the turn is added"),
    "R70": due("clear empties the accumulator"),
    "R71": due("an accumulator survives the way through JSON"),
    "R72": due("a restored accumulator keeps its limits and skips keys it does not know"),
    "R73": due("content cannot pretend to be a turn's boundary"),
    "R74": due("a run's state has its tasks, its conversation and whether it was interrupted"),
    "R75": due("a state without a conversation loads as empty"),
    "R76": due("the state of each line is kept"),
    "R77": due("spawn_sequential runs tasks one after the other"),
    "R78": due("it gives the results and the final context"),
    "R79": due("a given accumulator is used and given back"),
    "R80": due("a later prompt carries the conversation before the current task"),
    "R81": due("the turn recorded is the task's own prompt"),
    "R82": due("an answer is recorded only where there is one"),
    "R83": due("a failed task leaves a visible note"),
    "R84": due("stop_on_failure stops after the first failure"),
    "R85": due("without passing context every prompt is bare"),
    "R86": due("every field of a task is carried over"),
    "R87": due("the two-task example gives exactly its prompt"),
    "R88": due("spawn_parallel is as it was"),
    "R89": due("a run is resumed by its id"),
    "R90": due("the conversation is saved unless told otherwise"),
    "R91": due("resuming an unknown id says so and fails"),
    "R92": due("resuming says how many turns it found"),
    "R93": due("resuming runs only what remains"),
    "R94": due("resuming needs no task file"),
    "R95": due("without --resume the task file is read"),
    "R96": due("tasks are saved without turns where asked"),
    "R97": due("the state is saved after every turn"),
    "R98": due("after SIGKILL no finished task runs again"),
    "R99": due("a state is written whole or not at all"),
    "R100": due("Ctrl-C marks the run interrupted and prints how to resume"),
    "R101": due("a changed task list is noticed at resume"),
    "R102": due("each part of the first design has its counterpart"),
    "R103": due("the parts are tested alone, together and from the command line"),
    "R104": reason(
        "its design names it for the future; a run's conversation is a branch, so it is summarised, forked and shared "
        "as any other (docs/history.md)",
        "an interactive run; summaries, branches and shared context for its conversation",
    ),
    "R105": due("runs can be listed and cleaned up"),
    "R106": due("no name collides with an agent's own checkpoints"),
    # Agents that delegate to agents.
    "R107": due("a running session can spawn an agent"),
    "R108": due("the parent waits until the child ends"),
    "R109": due("the child is recorded with its parent, and survives a crash"),
    "R110": due("the result has the child's id, outcome and notes"),
    "R111": due("at the depth limit a spawn is refused before anything happens"),
    "R112": due("a session at depth 3 cannot spawn"),
    "R113": due("depth cannot be forged through the context"),
    "R114": due("a spawn at concurrency 1 does not deadlock"),
    "R115": due("agents are told of the tool"),
    "R116": due("the tool says when to use it and what to expect"),
    "R117": due("every outcome of a child is mapped"),
    "R118": due("a child's failure is never an exception"),
    "R119": due("a depth error has no child and says so"),
    "R120": due("a start error has no child and says so"),
    "R121": due("in every other case the child's id is there"),
    "R122": due("one spawn makes exactly one session"),
    "R123": due("a child's depth is its parent's plus one"),
    "R124": due("records without a parent still load"),
    "R125": due("the parent is on the session's own record"),
    "R126": due("no caller from outside can forge a parent"),
    "R127": reason(
        "about code: `engine.spawning.spawn` is given the transaction, the compiler and the parent; nothing is global",
        "spawning takes what it needs as arguments",
    ),
    "R128": due("parent and depth cannot be changed"),
    "R129": due("the depth limit is 3 unless configured"),
    "R130": reason(
        "nothing is allocated beforehand by a caller: the session is on record before any process (ARCHITECTURE.md)",
        "what is allocated beforehand is documented",
    ),
    "R131": due("a session that is not known cannot spawn"),
    "R132": due("a parent that times out leaves its child finishing and linked"),
    "R133": due("a crash before the child runs leaves it on record, and it is reaped"),
    "R134": due("children per session and per root are limited"),
    "R135": due("only root sessions notify"),
    "R136": due("stuck is an outcome of its own"),
    "R137": due("several spawns at once keep their order and their failures apart"),
    "R138": due("a child's progress counts as its parent's"),
    "R139": due("killing the parent ends its children"),
    "R140": due("children, ancestors and the whole tree can be asked for"),
    "R141": due("a parent without time left cannot spawn"),
    "R142": due("allowed tools are enforced or refused, never ignored"),
    "R143": due("children that are not awaited, bare prompts, tree queries, clean-up, width"),
    "R144": due("notifications go to the desktop and to a webhook"),
    "R145": due("a notification has its fields, the goal cut to 60 characters"),
    "R146": due("a channel that cannot work is off, with one warning"),
    "R147": due("notifying never raises and never delays"),
    "R148": due("repetition and lack of progress are noticed"),
    "R149": due("being stuck is an event with its evidence"),
    "R150": due("older events still load"),
    "R151": reason("about the process of another project, not about a behaviour", "a backlog is consolidated"),
    "R152": reason(
        "rules about code, not a behaviour: the import contracts, strict types and frozen values hold them",
        "errors are data, values do not change, boundaries are injected and validated",
    ),
    # Plans that persist, work that chains.
    "R153": due("an implementer in a fresh worktree can read the plan"),
    "R154": due("an effort has its output's text"),
    "R155": due("older rows have none"),
    "R156": due("the output's text is optional"),
    "R157": due("the report file is kept beside it"),
    "R158": due("on one machine a report is a file and a text"),
    "R159": due("on several it is a text"),
    "R160": due("plans, explorations and reviews have outputs"),
    "R161": due("a missing report file does not keep work from completing"),
    "R162": due("completing takes branch, log, report, text and figures"),
    "R163": due("an output is read from the database, then from the file"),
    "R164": due("an empty output is defined"),
    "R165": due("an effort without text falls back to its file"),
    "R166": due("an effort with neither has none, and nothing fails"),
    "R167": due("an implementer's prompt carries the plan"),
    "R168": due("the nearest plan of the chain is found, cycles and gaps notwithstanding"),
    "R169": due("a plan that cannot be read is said in the prompt"),
    "R170": due("no file is copied into a worktree"),
    "R171": due("content flows through the prompt, in a container too"),
    "R172": due("TaskStore is a protocol with its six verbs"),
    "R173": due("both databases satisfy it, by one suite"),
    "R174": due("without configuration the database is SQLite"),
    "R175": due("a URL makes it PostgreSQL"),
    "R176": due("a missing URL, type or driver is a clear error without the password"),
    "R177": due("efforts without text fall back"),
    "R178": due("plans are on disk for people"),
    "R179": reason("it is documentation: docs/worktrees.md says it", "what it costs is documented"),
    "R180": due("the next effort honours dependencies, and a claim is atomic"),
    "R181": due("a blocked effort names what blocks it"),
    "R182": due("a plan edited on disk can be taken back"),
    "R183": due("a very large plan is cut with a marker"),
    "R184": due("a report's path stays inside the project"),
    "R185": due("reusing a worktree deletes nothing uncommitted"),
    "R186": due("the whole of it works on PostgreSQL"),
    "R187": due("a review finds its implementation and its plan"),
    "R188": due("each of its goals has a test"),
    # Three layers of work: tables.
    "R189": due("projects have an absolute path, known once"),
    "R190": due("skills belong to a project, each name once"),
    "R191": due("tasks are known by their directory and have no lifecycle"),
    "R192": due("efforts have skill, mode, ordinal, lifecycle and phase; task and ordinal are unique"),
    "R193": due("sessions serve an effort, continue a session, and carry what is ephemeral"),
    "R194": due("phase history belongs to the effort"),
    "R195": due("messages belong to a session, with role, content, tool and time"),
    "R196": due("agents have an id, a label, claims and an effort"),
    "R197": due("embeddings have their source, text, vector and time", later_part="memory fills the table"),
    "R198": due("nine tables, four views and three indexes exist under their names, with one schema version"),
    "R199": due("foreign keys are on, and values outside their set are refused by the database"),
    "R200": due("deleting a task whose effort an agent holds has a defined result"),
    "R201": due("fleet_status shows who is doing what"),
    "R202": due("task_summary counts efforts and shows the latest skill, which is the latest"),
    "R203": due("active_efforts shows every active effort once"),
    "R204": due("stale_sessions shows open sessions silent for five minutes, those that never spoke too"),
    "R205": due("the three indexes exist and are used"),
    # Three layers of work: what they mean.
    "R206": due("tasks never finish; whether one is active follows from its efforts"),
    "R207": due("a task has any number of efforts, the same skill twice, and at once"),
    "R208": due("ordinals are 1 to N without gap or duplicate, whoever starts at once"),
    "R209": due("an effort knows the prefix of its files"),
    "R210": due("a session serves exactly one effort"),
    "R211": due("a pid is information; nothing is refused because of one"),
    "R212": due("a session's loaded files can be updated"),
    "R213": due("what a session hands on is on its row, once"),
    "R214": due("directives and directories are the effort's"),
    "R215": due("a skill's data is not copied to its efforts: a changed skill is seen at once"),
    "R216": due("after an overflow the next session continues at the same phase"),
    "R217": due("a session goes on with the next effort of its task"),
    "R218": due("the same skill twice has two phase histories"),
    # Three layers of work: operations.
    "R219": due("db.project.upsert, twice the same"),
    "R220": due("db.task.upsert finds its project by the longest path and keeps what is not given"),
    "R221": due("db.task.find by keyword, workspace and project"),
    "R222": due("db.task.list, of one project or all"),
    "R223": due("db.effort.start with mode and metadata"),
    "R224": due("db.effort.finish, twice the same; keywords merge"),
    "R225": due("db.effort.phase in sequence, with proofs, sub-phases, and the same phase as a no-op"),
    "R226": due("skipping or going back needs a reason, which is recorded"),
    "R227": due("db.effort.list by ordinal"),
    "R228": due("db.effort.validate passes or fails each check"),
    "R229": due("db.session.start ends the agent's session before it"),
    "R230": due("db.session.finish with what is handed on"),
    "R231": due("db.session.heartbeat counts and stamps"),
    "R232": due("db.session.updateContextUsage between 0 and 1"),
    "R233": due("db.session.updateLoadedFiles"),
    "R234": due("db.session.find by task, effort and agent"),
    "R235": due("db.skills.upsert, get, list, delete and find"),
    "R236": due("db.messages.append, and db.messages.list in pages"),
    "R237": due("db.agents.register keeps what is not given; get and list"),
    "R238": later("memory", "search.upsert, query, delete, status and reindex"),
    "R239": due("sessionStart finds or makes the session and says where it stands"),
    "R240": due("preToolUse allows or blocks with a reason"),
    "R241": due("postToolUse records files and directories"),
    "R242": due("userPrompt goes to the transcript"),
    "R243": due("fifteen hooks, published"),
    "R244": due("replies have the shape that the vendor expects"),
    "R245": due("the heartbeat gate warns at 3 and blocks at 10"),
    "R246": due("a started sub-agent does not end its parent's session"),
    "R247": due("commands.effort.start does all of it or nothing"),
    "R248": due("commands.session.continue links the next session"),
    "R249": due("commands.log.append writes to the effort's log"),
    "R250": due("fs.files.read and append, fs.paths.resolve"),
    "R251": due("ai.generate and ai.embed, whatever the provider"),
    "R252": due("agent.directives and agent.skills"),
    "R253": due("every request is validated; a refusal names the field, an unknown operation is a typed error"),
    "R254": due("start and finish, everywhere the same, each safe to repeat"),
    "R255": due("db.effort.start is one transaction"),
    # Transport and process.
    "R256": due("a unix socket, one JSON document per line, several requests per connection, in any chunks"),
    "R257": due("ids are echoed; oversize, malformed and non-UTF-8 lines are answered and the connection lives"),
    "R258": due("the database has a default place"),
    "R259": due("engine and store open no file but the database"),
    "R260": due("all access goes through operations or `ramet query`"),
    "R261": due("no operation calls the daemon's own socket"),
    "R262": due("without a daemon a command starts one, or fails with what to do"),
    "R263": due("100 clients at once lose no update and never see a locked database"),
    "R264": due("stale socket and pid are cleaned up, a second start is refused, the socket is 0600"),
    "R265": due("queries only read"),
    # Fleet and ownership.
    "R266": due("an agent holds at most one active effort"),
    "R267": due("an effort that an agent holds cannot be taken; the error names the holder"),
    "R268": due("one question answers who is doing what"),
    "R269": due("an agent's open session is taken up again, else a linked one starts"),
    "R270": due("resuming is preferred to a new session"),
    "R271": due("the status line shows the ordinal only above 1"),
    "R272": due("artifacts are named after ordinal and skill"),
    "R273": due("a new effort lists the reports of finished ones"),
    "R274": due("the messages are the transcript of record"),
    "R275": due("the markdown that agents get has a stable shape"),
    "R276": due("a missing skill is an error"),
    "R277": due("the schema changes by forward migrations; dropping is never automatic"),
    "R278": due("each round of seed 004's decisions leads to a behaviour or a recorded departure"),
    "R279": due("a missing skill, a failing step, corrupt JSON and a task without efforts are handled"),
    "R280": due("the counts of operations are published by machine"),
    # What exists only because it is one system.
    "R281": due("one spawn is one transaction"),
    "R282": due("a child is found by any of its names"),
    "R283": due("what the parent gets is what the child's effort keeps"),
    "R284": due("resuming restores the conversation and the remaining tasks"),
    "R285": due("an overflow writes a handoff boundary"),
    "R286": due("depth, width, time and cost are checked in one place"),
    "R287": due("cycles of spawns and of dependencies are one error"),
    "R288": due("a plan reaches its implementer through compile"),
    "R289": due("stuck and stale are one word for one session"),
    "R290": due("one stream of events feeds everything that shows", later_part="console"),
    "R291": due("every status is derived"),
    "R292": due("a killed daemon loses nothing, and the next adopts its agents"),
    "R293": due("one writer for library and command line"),
    "R294": later("memory", "databases of the five systems are imported without loss"),
    "R295": later("memory", "importing twice adds nothing and says the counts"),
    "R296": due("secrets never appear in logs, events or errors", later_part="console"),
    "R297": due("times are UTC, ISO-8601 with a zone"),
    "R298": due(
        "every limit in this list is a configuration key, with its default and source shown, or a constant with its "
        "reason"
    ),
    "R299": due("doctor checks tools, socket, database and disk"),
    "R300": due("a no-op is a success with a reason"),
    "R301": due("every retry is bounded, and a bound reached is seen once"),
    "R302": due("uncommitted work is never deleted"),
    "R303": due("facts that can be derived are derived"),
    "R304": due("errors name the field, the value and the fix, everywhere"),
    "R305": due("the latency of hooks has a budget, and is measured as p50, p95 and p99"),
    "R306": due("log and poll files are capped"),
    "R307": due("runs can be archived, are then hidden, and are purged", later_part="console: sessions too"),
    "R308": due("no command is called checkpoint"),
    "R309": due("a system without unix sockets is refused clearly"),
    "R310": due("two operators on one PostgreSQL claim exclusively and read everything"),
    "R311": due("a scripted agent ships with the tests"),
    "R312": due("real agents are adapters"),
    "R313": due(
        "the documentation has a glossary, one table that maps each name of each seed to ours, and one list of "
        "departures with reasons"
    ),
    "R314": due("the list of operations and events is generated from the code and checked"),
    "R315": due("migrations from every released schema; newer databases are refused"),
    "R316": due("lists and stale queries stay within bounds under load"),
    "R317": due("frames, phase labels, task files and saved conversations are fuzzed"),
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
        later_part="memory builds the index",
    ),
    "R342": due(
        "`ramet redact --rescan` finds and `--purge` removes secrets that were stored before a rule existed, in blobs, "
        "spools, logs, reports, index, exports and backups that Ramet made. A purged blob keeps its hash, its size and "
        "a tombstone (who, when, why); commit hashes do not change; `db check` verifies every other blob and counts "
        "purged ones; `compile` and `show` print `[purged]`; export and import keep tombstones; the text is in no file "
        "under `RAMET_HOME` afterwards (free pages and WAL included).",
        later_part="memory builds the index, and export and import as commands; a backup is the only export so far",
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
    "R360": due(
        "An agent whose turn is over but whose program lingers ends with the driver's outcome after a grace period; "
        "its background processes are ended."
    ),
    "R364": due(
        "Expired login, bad key, empty credit and usage limits (with a date, a clock time, or no time) park the driver "
        "and put the effort back; one notice per limit; a task's own failure never parks a driver; `ramet drivers "
        "release` always releases."
    ),
    "R375": due(
        "`ramet completion bash|zsh|fish` works, with ids, branches and titles; typing a prefix never prints help or a "
        "traceback."
    ),
    "R451": due(
        "No check, set-up command or driver that a branch adds or changes runs before the owner has trusted it: not by "
        "an agent's default policy, not by `land`, not by `doctor`. A landing that changes `ramet.yaml`, "
        "`.worktreeinclude`, `.mcp.json`, `.claude/`, `.codex/`, `.gitattributes` or git hooks says so in its preview "
        "and never lands automatically. (The landing half is proved with the landing issue.)",
        later_part="landing; checks and set-up commands with the work that brings them",
    ),
    "R453": due(
        "At 80 columns `ps`, `queue`, `tree` and `runs show` each show who (one name for an agent everywhere: "
        "driver, then reference), what it does now (the latest prompt or tool, not the first), the state in words "
        "and colour, age and cost; golden screens at 80 and 140 columns."
    ),
}
