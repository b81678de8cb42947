"""What the first design asked to be tested is tested here, under our names; and its users find its types."""

import ast
from pathlib import Path

import pytest

import ramet
from ramet.errors import SessionError, SpawnError
from ramet.model.history.child_branch import CollapseResult, SpawnInfo
from ramet.model.history.content import SessionContent

HERE = Path(__file__).parent
SEED_TYPES = HERE.parents[1] / "library" / "test_seed_types.py"

TESTED_AS = {
    "test_spawn_pointers_table_created": "test_the_table_has_the_columns_of_a_spawn",
    "test_migration_v3_to_v4": "test_an_older_database_gains_the_tables_by_itself",
    "test_migration_v2_to_v4": "test_an_older_database_gains_the_tables_by_itself",
    "test_new_db_starts_at_v4": "test_a_fresh_database_has_the_tables_and_the_version",
    "test_spawn_pointer_row_roundtrip": "test_what_was_saved_is_got_by_its_id",
    "test_save_and_get": "test_what_was_saved_is_got_by_its_id",
    "test_get_by_child": "test_a_childs_parent_and_all_of_a_historys_spawns_are_found",
    "test_get_by_child_not_found": "test_a_childs_parent_and_all_of_a_historys_spawns_are_found",
    "test_get_children": "test_children_come_in_the_order_of_their_making",
    "test_get_children_empty": "test_children_come_in_the_order_of_their_making",
    "test_get_all": "test_a_childs_parent_and_all_of_a_historys_spawns_are_found",
    "test_has_ancestor_true": "test_an_ancestor_is_found_through_the_chain",
    "test_has_ancestor_false": "test_an_ancestor_is_found_through_the_chain",
    "test_session_content_valid": "test_a_boundary_is_one_of_four",
    "test_session_content_in_union": "test_content_of_the_type_session_is_recognised_as_such",
    "test_spawn_info_frozen": "test_a_spawn_is_returned_as_spawn_info_and_cannot_be_changed",
    "test_collapse_result_frozen": "test_a_collapse_is_returned_as_collapse_result_with_or_without_its_commit",
    "test_session_content_type_hints": "test_a_boundary_is_pinned_of_the_system_and_never_compressed",
    "test_collapse_system_prompt_not_empty": "test_a_report_begins_with_what_was_completed",
    "test_build_collapse_prompt_basic": "test_the_purpose_comes_first_then_the_request_then_the_work_unchanged",
    "test_build_collapse_prompt_with_options": "test_target_and_instructions_are_added_only_where_given",
    "test_spawn_error_inherits_trace_error": "test_spawns_and_sessions_fail_with_errors_of_their_own",
    "test_session_error_inherits_trace_error": "test_spawns_and_sessions_fail_with_errors_of_their_own",
}


@pytest.mark.requirement("R54")
def test_every_test_that_the_seed_names_has_its_counterpart() -> None:
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in (*HERE.glob("test_*.py"), SEED_TYPES)]
    defined = {node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    assert len(TESTED_AS) == 23
    assert set(TESTED_AS.values()) <= defined


@pytest.mark.requirement("R53")
def test_the_types_that_users_need_are_imported_from_ramet() -> None:
    assert ramet.SessionContent is SessionContent
    assert ramet.SpawnInfo is SpawnInfo
    assert ramet.CollapseResult is CollapseResult
    assert ramet.SpawnError is SpawnError
    assert ramet.SessionError is SessionError


@pytest.mark.requirement("R33")
def test_the_verbs_of_the_store_are_not_exported_to_users() -> None:
    assert not {"save", "get", "get_parent", "get_children", "get_all", "has_ancestor", "spawns"} & set(ramet.__all__)
