-- Until f2414985 the check allowed two more kinds of notices, which nothing wrote.

-- name: found
-- Whether the database has the superseded text; migration 7 makes the table again without it.
SELECT 1 FROM sqlite_schema WHERE name = 'notices' AND sql LIKE '%''preserved'', ''blocked'',%''run_bound''%';

-- name: repair
-- As for the history.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '''preserved'', ''blocked'',', '') WHERE type = 'table' AND name = 'notices';
PRAGMA writable_schema = RESET;
CREATE VIEW repaired AS SELECT 1;
DROP VIEW repaired;
