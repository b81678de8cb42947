-- The text of a skill's file, as it was when work was last added with it: what agents that Ramet runs are told.

CREATE TABLE skill_texts (
    skill_id       INTEGER PRIMARY KEY NOT NULL REFERENCES skills (id) ON DELETE CASCADE,
    file           TEXT NOT NULL,
    description    TEXT NOT NULL,
    instructions   TEXT NOT NULL,
    template_texts TEXT NOT NULL
) STRICT;
