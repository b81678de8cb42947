"""procrastinate: a task that does nothing, deferred many times over and worked off by its own worker.

It keeps its jobs in PostgreSQL alone. Its worker fetches one job after the other and finishes several at once; five
was the fastest of 1, 5, 10 and 20 here.
"""

import asyncio
import logging

import procrastinate

from benchmarks.jobs import Site, Worked, measure

_CONCURRENCY = 5


def on_postgres(site: Site, count: int) -> Worked:
    """As it comes, but for the number of jobs at once."""
    logging.getLogger("procrastinate").setLevel(logging.ERROR)
    app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=site.url))

    @app.task(queue="bench", name="nothing")
    async def nothing(number: int) -> int:
        return number

    async def add() -> None:
        for number in range(count):
            await nothing.defer_async(number=number)

    async def work() -> None:
        options = {"queues": ["bench"], "concurrency": _CONCURRENCY, "install_signal_handlers": False}
        await app.run_worker_async(wait=False, **options)

    with asyncio.Runner() as runner:
        runner.run(app.connector.open_async())
        runner.run(app.schema_manager.apply_schema_async())
        worked = measure(count, lambda: runner.run(add()), lambda: runner.run(work()))
        succeeded = len(list(runner.run(app.job_manager.list_jobs_async(status="succeeded"))))
        runner.run(app.connector.close_async())
    assert succeeded == count, f"{succeeded} of {count} jobs succeeded"
    return worked
