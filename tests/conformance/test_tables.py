"""The tables: every column of seed 004's, and what the database itself refuses."""

import pytest
from tests.conformance.catalog import columns_of, refused, relations
from tests.world import OTHER_TABLES, SEED_TABLES, World

SEED_VIEWS = {"fleet_status", "task_summary", "active_efforts", "stale_sessions"}
OTHER_VIEWS = {"efforts_shown"}

REQUIRED = {
    "projects": {"id", "path", "created_at"},
    "skills": {"id", "project_id", "name", "updated_at"},
    "tasks": {"dir_path", "project_id", "created_at"},
    "efforts": {"id", "task_id", "skill", "ordinal", "lifecycle", "created_at"},
    "sessions": {"id", "task_id", "effort_id", "heartbeat_counter", "created_at"},
    "phase_history": {"id", "effort_id", "phase_label", "created_at"},
    "messages": {"id", "session_id", "role", "commit_id", "timestamp"},
    "agents": {"id"},
    "embeddings": {"id", "source_type", "source_path", "updated_at"},
}
OPTIONAL = {
    "projects": {"name"},
    "skills": {"phases", "modes", "templates", "cmd_dependencies", "next_skills", "directives"},
    "tasks": {"workspace", "title", "description", "keywords"},
    "efforts": {
        "mode",
        "current_phase",
        "discovered_directives",
        "discovered_directories",
        "metadata",
        "finished_at",
    },
    "sessions": {
        "prev_session_id",
        "pid",
        "last_heartbeat",
        "context_usage",
        "loaded_files",
        "dehydration_payload",
        "ended_at",
    },
    "phase_history": {"proof"},
    "messages": {"tool_name"},
    "agents": {"label", "claims", "effort_id"},
    "embeddings": {"chunk_text", "embedding"},
}


@pytest.mark.requirement("R189", "R190", "R191", "R192", "R193", "R194", "R195", "R196", "R197")
@pytest.mark.parametrize("table", SEED_TABLES)
def test_a_table_has_the_columns_of_the_seed(world: World, table: str) -> None:
    columns = columns_of(world, table)
    assert REQUIRED[table] <= {name for name, nullable in columns.items() if not nullable or name == "id"}
    assert OPTIONAL[table] <= {name for name, nullable in columns.items() if nullable}


@pytest.mark.requirement("R198")
def test_nine_tables_four_views_and_three_indexes_have_the_names_of_the_seed(world: World) -> None:
    assert relations(world, "table") == {*SEED_TABLES, *OTHER_TABLES}
    assert relations(world, "view") == {*SEED_VIEWS, *OTHER_VIEWS}
    assert relations(world, "index") >= {
        "idx_efforts_task_lifecycle",
        "idx_sessions_effort_ended",
        "idx_messages_session_ts",
    }


@pytest.mark.requirement("R198", "R277")
def test_there_is_one_schema_version_and_the_database_records_it(world: World) -> None:
    recorded = world.sql("SELECT number, name FROM schema_migrations ORDER BY number")
    assert [number for number, _ in recorded] == list(range(1, world.store.schema_version + 1))
    assert world.store.migrated.after == len(recorded)


@pytest.mark.requirement("R191", "R206")
def test_a_task_has_no_lifecycle_and_no_skill(world: World) -> None:
    assert not {"lifecycle", "status", "finished_at", "skill"} & set(columns_of(world, "tasks"))


@pytest.mark.requirement("R189", "R190", "R191", "R192")
def test_natural_keys_are_unique(world: World) -> None:
    effort = world.effort()
    world.skill("paint", ["1: Look"])
    for statement in (
        "INSERT INTO projects (path) VALUES ('/shop')",
        "INSERT INTO skills (project_id, name) SELECT project_id, name FROM skills",
        "INSERT INTO tasks (dir_path, project_id) SELECT dir_path, project_id FROM tasks",
        "INSERT INTO efforts (task_id, skill, ordinal) SELECT task_id, skill, ordinal FROM efforts",
    ):
        assert "UNIQUE" in refused(world, statement) or not world.is_sqlite
    assert world.call("db.effort.list", task_id=effort.task_id).items == [effort]


@pytest.mark.requirement("R193", "R199")
def test_a_vendors_session_id_is_unique_among_its_driver(world: World) -> None:
    one = world.session(driver="claude", native_id="n1")
    other = world.session(driver="codex", native_id="n1")
    assert one.id != other.id
    refused(world, "UPDATE sessions SET driver = 'claude' WHERE id = :id", id=other.id)
    refused(world, "UPDATE sessions SET driver = NULL WHERE id = :id", id=other.id)


@pytest.mark.requirement("R192", "R193")
def test_defaults_are_those_of_the_seed(world: World) -> None:
    session = world.session()
    world.sql("INSERT INTO efforts (task_id, skill, ordinal) VALUES ('/shop/tasks/cart', 'do', 2)")
    lifecycle, created = world.sql("SELECT lifecycle, created_at FROM efforts WHERE ordinal = 2")[0]
    assert lifecycle == "active"
    assert created.endswith("Z")
    assert session.heartbeat_counter == 0


@pytest.mark.requirement("R199")
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE efforts SET lifecycle = 'banana'",
        "UPDATE efforts SET lifecycle = 'finished'",
        "UPDATE efforts SET outcome = 'success'",
        "UPDATE efforts SET lifecycle = 'finished', finished_at = 'now', outcome = 'splendid'",
        "UPDATE efforts SET ordinal = 0",
        "UPDATE sessions SET context_usage = 1.5",
        "UPDATE sessions SET context_usage = -0.1",
        "UPDATE sessions SET outcome = 'success'",
        "UPDATE sessions SET ended_at = 'now'",
        "UPDATE messages SET role = 'oracle'",
        "INSERT INTO projects (path) VALUES ('relative')",
    ],
)
def test_the_database_refuses_values_outside_their_set(world: World, statement: str) -> None:
    session = world.session()
    world.call("db.messages.append", session_id=session.id, role="user", content="hello")
    before = world.dump()
    refused(world, statement)
    assert world.dump() == before


@pytest.mark.requirement("R190", "R191", "R192", "R193", "R194", "R195", "R196", "R199")
@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE skills SET project_id = 99",
        "UPDATE tasks SET project_id = 99",
        "UPDATE efforts SET task_id = '/nowhere'",
        "UPDATE sessions SET task_id = '/nowhere'",
        "UPDATE sessions SET effort_id = 99",
        "UPDATE sessions SET effort_id = NULL",
        "UPDATE sessions SET prev_session_id = 99",
        "UPDATE phase_history SET effort_id = 99",
        "UPDATE messages SET session_id = 99",
        "UPDATE agents SET effort_id = 99",
        "DELETE FROM projects",
    ],
)
def test_nothing_points_at_a_row_that_is_not_there(world: World, statement: str) -> None:
    world.skill("paint", ["1: Look"])
    session = world.session(agent_id="ada")
    world.call("db.effort.phase", effort_id=session.effort_id, label="1")
    world.call("db.messages.append", session_id=session.id, role="user", content="hello")
    before = world.dump()
    refused(world, statement)
    assert world.dump() == before


@pytest.mark.requirement("R192", "R193", "R194", "R195", "R200")
def test_deleting_a_task_whose_effort_an_agent_holds_frees_the_agent_and_takes_the_rest(world: World) -> None:
    """P5: seed 004's own schema fails here with a foreign key error."""
    session = world.session(agent_id="ada")
    world.call("db.effort.phase", effort_id=session.effort_id, label="1")
    world.call("db.messages.append", session_id=session.id, role="user", content="hello")
    world.sql("DELETE FROM tasks")
    for table in ("efforts", "sessions", "phase_history", "messages"):
        assert world.sql(f"SELECT count(*) FROM {table}") == [(0,)]
    assert world.call("db.agents.get", id="ada").effort_id is None


@pytest.mark.requirement("R196", "R266", "R267")
def test_two_agents_cannot_hold_one_effort_even_past_the_engine(world: World) -> None:
    """P5: seed 004's own schema lets them."""
    effort_id = world.session(agent_id="ada").effort_id
    world.call("db.agents.register", id="bob")
    refused(world, "UPDATE agents SET effort_id = :effort_id WHERE id = 'bob'", effort_id=effort_id)
    assert world.call("db.agents.get", id="bob").effort_id is None


@pytest.mark.requirement("R197")
@pytest.mark.parametrize("project_id", [None, 1])
def test_the_same_embedding_is_kept_once(world: World, project_id: int | None) -> None:
    """P6: seed 004's own schema keeps duplicates."""
    world.task()
    statement = (
        "INSERT INTO embeddings (project_id, source_type, source_path, content_hash, model, dimension, embedding) "
        "VALUES (:project_id, 'doc', '/a.md', :hash, 'm', 2, :vector)"
    )
    values = {"project_id": project_id, "hash": b"h" * 32, "vector": b"\0" * 8}
    world.sql(statement, **values)
    refused(world, statement, **values)
    refused(world, statement, **{**values, "hash": b"g" * 32, "vector": b"\0" * 7})
    assert world.sql("SELECT count(*) FROM embeddings") == [(1,)]
