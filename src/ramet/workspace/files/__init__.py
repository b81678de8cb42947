"""Files of a project: reports, logs, skills and directives."""
