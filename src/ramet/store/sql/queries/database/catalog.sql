-- name: parts
-- What the schema has: the kind of each part, its name, the table or view that it is part of, and its definition.
SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite!_%' ESCAPE '!';

-- name: columns
-- The columns of each table, with their types.
SELECT t.name, c.name, c.type FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table';
