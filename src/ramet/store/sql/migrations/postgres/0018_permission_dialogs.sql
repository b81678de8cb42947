-- The tool for which a session's program asks a person for permission; null while no dialog is open.

ALTER TABLE sessions ADD COLUMN permission_tool TEXT;
