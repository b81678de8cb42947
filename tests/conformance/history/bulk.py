"""A long branch, quickly: its rows are written by the database itself. Their hashes are not those of their contents."""

from tests.conformance.history.story import say
from tests.world import Counting, World

from ramet.store.database.connection import Row
from ramet.store.database.queries import Query

_BLOBS = """
WITH RECURSIVE numbers (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM numbers WHERE n < {count})
INSERT INTO blobs (id, hash, codec, size, data)
SELECT {first} + n, randomblob(32), 0, {size}, CAST(substr(n || ' ' || '{filler}', 1, {size}) AS BLOB) FROM numbers"""

_COMMITS = """
WITH RECURSIVE numbers (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM numbers WHERE n < {count})
INSERT INTO commits (id, hash, segment_id, seq, parent_id, blob_id, content_type, role, author, created_ms, tokens,
                     token_sum)
SELECT {first} + n, randomblob(32), {segment}, n, {first} + n - 1, {first} + n, 'dialogue',
       CASE n % 2 WHEN 0 THEN 'assistant' ELSE 'user' END, 'user', n, {tokens}, n * {tokens} FROM numbers"""


def write_long_branch(world: World, count: int, size: int = 400, branch: str = "main") -> None:
    """A branch of so many commits with texts of so many bytes, on SQLite."""
    say(world, "begin", branch=branch)
    commit_id, segment = world.sql("SELECT id, segment_id FROM commits ORDER BY id DESC LIMIT 1")[0]
    facts = {"count": count, "first": commit_id * 10_000_000, "segment": segment, "size": size, "tokens": size // 4}
    world.sql("BEGIN")
    world.sql(_BLOBS.format(**facts, filler="a word or two " * (size // 10)))
    world.sql(_COMMITS.format(**facts))
    world.sql(f"UPDATE branches SET commit_id = {facts['first'] + count} WHERE name = '{branch}'")
    world.sql("COMMIT")


class Reading(Counting):
    """A connection that counts the rows that it reads, by the name of the query."""

    def __init__(self, world: World) -> None:
        super().__init__(world.db)
        self.rows: dict[str, int] = {}

    def all(self, query: Query, **params: object) -> list[Row]:
        rows = super().all(query, **params)
        self.rows[query.name] = self.rows.get(query.name, 0) + len(rows)
        return rows

    @property
    def texts(self) -> int:
        """How many texts were read."""
        return sum(self.rows.get(name, 0) for name in ("range", "texts", "rows"))

    @property
    def commits(self) -> int:
        """How many commits were read, with or without their texts."""
        return self.texts + sum(self.rows.get(name, 0) for name in ("facts", "special", "annotated", "hashes"))
