-- name: relations
-- How many bytes each table and index takes on a server.
SELECT c.relname, CASE WHEN c.relkind = 'r' THEN pg_table_size(c.oid) ELSE pg_relation_size(c.oid) END
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'i');

-- name: connections
-- How many connections a server gives us at most.
SELECT least(
    CAST(current_setting('max_connections') AS integer)
        - CAST(current_setting('superuser_reserved_connections') AS integer),
    (SELECT min(rolconnlimit) FROM pg_roles
     WHERE rolname = current_user AND rolconnlimit >= 0 AND NOT rolsuper),
    (SELECT min(datconnlimit) FROM pg_database
     WHERE datname = current_database() AND datconnlimit >= 0)
);
