-- When a project was taken off the list. Its records stay, and registering its path again puts it back.

ALTER TABLE projects ADD COLUMN removed_at TEXT;
