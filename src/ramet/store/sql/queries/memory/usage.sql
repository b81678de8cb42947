-- name: sums
-- What was used in some periods, in groups. Each period has the distance of its days from those of UTC. What a session
-- said without a model (the cost of all its calls) belongs to the model that it used last. Sums are taken as floating
-- point numbers, because a program may report numbers whose sum no integer holds. The cross join keeps SQLite from
-- reading every row for each period.
WITH periods (start_ms, end_ms, offset_ms) AS (
    SELECT CAST(value ->> 0 AS BIGINT), CAST(value ->> 1 AS BIGINT), CAST(value ->> 2 AS BIGINT)
    FROM json_each(:periods)
), used AS (
    SELECT t.session_id,
           CASE WHEN CAST(:by_model AS INTEGER) = 1 THEN t.model END AS model,
           CASE WHEN CAST(:by_day AS INTEGER) = 1 THEN (t.at_ms + p.offset_ms) / 86400000 END AS day,
           sum(CAST(t.calls AS DOUBLE PRECISION)) AS calls,
           sum(CAST(t.input_tokens AS DOUBLE PRECISION)) AS input_tokens,
           sum(CAST(t.output_tokens AS DOUBLE PRECISION)) AS output_tokens,
           sum(CAST(t.cache_read_tokens AS DOUBLE PRECISION)) AS cache_read_tokens,
           sum(CAST(t.cache_write_tokens AS DOUBLE PRECISION)) AS cache_write_tokens,
           sum(CAST(t.injected_tokens AS DOUBLE PRECISION)) AS injected_tokens,
           sum(t.cost_usd) AS cost_usd, sum(t.estimated_usd) AS estimated_usd
    FROM periods p CROSS JOIN usage_times t
    WHERE t.at_ms >= p.start_ms AND t.at_ms < p.end_ms
    GROUP BY 1, 2, 3
)
SELECT u.day,
       CASE WHEN CAST(:by_project AS INTEGER) = 1 THEN k.project_id END,
       CASE WHEN CAST(:by_model AS INTEGER) = 1 THEN coalesce(nullif(u.model, ''), s.model) END,
       CASE WHEN CAST(:by_agent AS INTEGER) = 1 THEN s.driver END,
       CASE WHEN CAST(:by_skill AS INTEGER) = 1 THEN e.skill END,
       CASE WHEN CAST(:by_effort AS INTEGER) = 1 THEN e.id END,
       sum(u.calls), sum(u.input_tokens), sum(u.output_tokens), sum(u.cache_read_tokens), sum(u.cache_write_tokens),
       sum(u.injected_tokens), sum(u.cost_usd), sum(u.estimated_usd)
FROM used u
JOIN sessions s ON s.id = u.session_id
JOIN efforts e ON e.id = s.effort_id
JOIN tasks k ON k.dir_path = e.task_id
WHERE CAST(:project_id AS BIGINT) IS NULL OR k.project_id = :project_id
GROUP BY 1, 2, 3, 4, 5, 6;

-- name: times
-- How long the sessions ran that started in some periods, in the same groups: to their end, or to their last sign of
-- life.
WITH periods (start_ms, end_ms, offset_ms, starts_at, ends_at) AS (
    SELECT CAST(value ->> 0 AS BIGINT), CAST(value ->> 1 AS BIGINT), CAST(value ->> 2 AS BIGINT),
           value ->> 3, value ->> 4
    FROM json_each(:periods)
)
SELECT CASE WHEN CAST(:by_day AS INTEGER) = 1
            THEN (CAST(strftime('%s', s.created_at) AS INTEGER) * 1000 + p.offset_ms) / 86400000 END,
       CASE WHEN CAST(:by_project AS INTEGER) = 1 THEN k.project_id END,
       CASE WHEN CAST(:by_model AS INTEGER) = 1 THEN s.model END,
       CASE WHEN CAST(:by_agent AS INTEGER) = 1 THEN s.driver END,
       CASE WHEN CAST(:by_skill AS INTEGER) = 1 THEN e.skill END,
       CASE WHEN CAST(:by_effort AS INTEGER) = 1 THEN e.id END,
       sum(max(0.0, julianday(coalesce(s.ended_at, s.last_heartbeat, s.created_at)) - julianday(s.created_at)) * 86400.0),
       count(*)
FROM periods p
JOIN sessions s ON s.created_at >= p.starts_at AND s.created_at < p.ends_at
JOIN efforts e ON e.id = s.effort_id
JOIN tasks k ON k.dir_path = e.task_id
WHERE s.driver IS NOT NULL AND (CAST(:project_id AS BIGINT) IS NULL OR k.project_id = :project_id)
GROUP BY 1, 2, 3, 4, 5, 6;

-- name: first
-- When something was used for the first time, and when the first session started.
SELECT (SELECT min(at_ms) FROM usage_times), (SELECT min(created_at) FROM sessions);

-- name: finished
-- What the newest finished efforts used, each with all its sessions: those of a project, a skill and a model, unless
-- null stands for any.
SELECT sum(CAST(t.input_tokens + t.output_tokens + t.cache_read_tokens + t.cache_write_tokens AS DOUBLE PRECISION)),
       sum(t.cost_usd), sum(t.estimated_usd)
FROM (
    SELECT e.id FROM efforts e JOIN tasks k ON k.dir_path = e.task_id
    WHERE e.lifecycle = 'finished' AND e.attempts > 0
      AND (CAST(:project_id AS BIGINT) IS NULL OR k.project_id = :project_id)
      AND (CAST(:skill AS TEXT) IS NULL OR e.skill = :skill)
      AND (CAST(:model AS TEXT) IS NULL OR e.model = :model)
      AND EXISTS (SELECT 1 FROM sessions s JOIN usage_times t ON t.session_id = s.id WHERE s.effort_id = e.id)
    ORDER BY e.id DESC LIMIT :most
) e
JOIN sessions s ON s.effort_id = e.id
JOIN usage_times t ON t.session_id = s.id
GROUP BY e.id;
