"""Sandboxes: what an agent can read, write and reach, enforced by the kernel through `bwrap`.

`plan` turns values into the arguments of `bwrap` and touches nothing. `system_paths` and `bubblewrap` look at this
machine. `entry` is the first program inside a sandbox, and `proxy` the only way out of a strict one. This folder knows
no vendor and no repository layout: paths arrive as values.
"""
