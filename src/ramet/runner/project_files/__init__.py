"""Operations on the files of a project: skills, directives, logs."""
