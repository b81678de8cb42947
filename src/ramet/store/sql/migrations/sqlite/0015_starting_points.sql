-- Where an effort starts: the commit, its branch if it had one, and the commit of the uncommitted changes that were
-- taken along. Lines of a run have what their run has.

ALTER TABLE efforts ADD COLUMN base_commit TEXT;
ALTER TABLE efforts ADD COLUMN base_branch TEXT;
ALTER TABLE efforts ADD COLUMN base_changes TEXT;

ALTER TABLE runs ADD COLUMN base_commit TEXT;
ALTER TABLE runs ADD COLUMN base_branch TEXT;
ALTER TABLE runs ADD COLUMN base_changes TEXT;
