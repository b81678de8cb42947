"""What Ramet does, in under a minute, with nothing installed but Ramet itself. `make demo`.

First the main job: a plan, its implementation and a review, from the queue, by small programs in a git worktree; all
of it is killed in the middle, and goes on. Then a file of tasks, side by side; that is killed, too. Then agents that
delegate to others, and the tree of them. Then an agent that a person starts, which reports by its hooks. Then what an
agent knows: a history that can be branched, shortened and undone.
"""

from demo import history, hooks, runs, spawn, stage, work


def main() -> None:
    for part in (work, runs, spawn, hooks, history):
        with stage.temporary_home() as folder:
            part.show(folder / "shop")
    print("\nNothing was lost, nothing ran twice, nothing is left behind. Next: docs/quickstart.md")


if __name__ == "__main__":
    main()
