"""Show what Ramet does, in under a minute, with only Ramet installed: `make demo`.

1. A plan, its implementation and a review run from the queue. Everything is killed in the middle, and continues.
2. A task file runs in parallel. Everything is killed again, and the run resumes.
3. Agents delegate to other agents, and the demo shows their tree.
4. An agent that a person starts reports through its hooks.
5. Sessions from before Ramet are imported and searched, and a line of code says why it is there.
6. An agent's context is a history that can be branched, compressed and undone.
"""

from demo import history, hooks, memory, runs, spawn, stage, work


def main() -> None:
    for part in (work, runs, spawn, hooks, memory, history):
        with stage.temporary_home() as folder:
            part.show(folder / "shop")
    print("\nNothing was lost, nothing ran twice, and no process is left. Next: docs/quickstart.md")


if __name__ == "__main__":
    main()
