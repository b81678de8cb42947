-- The texts of the command files that a skill names: what agents are told when they enter the phase that needs them.

ALTER TABLE skill_texts ADD COLUMN command_texts TEXT NOT NULL DEFAULT '{}';
