-- A child that inherits no history says so: the mode `none`.
ALTER TABLE spawn_pointers DROP CONSTRAINT spawn_pointers_inheritance_mode_check;
ALTER TABLE spawn_pointers ADD CONSTRAINT spawn_pointers_inheritance_mode_check
    CHECK (inheritance_mode IN ('none', 'full_clone', 'head_snapshot', 'selective'));
