-- name: put
-- A call that was refused; said again, it replaces what was said before.
INSERT INTO refused_calls (session_id, subject, name, key, effort_id, call, rules, advice, times, created_at)
VALUES (:session_id, :subject, :name, :key, :effort_id, :call, :rules, :advice, :times, :now)
ON CONFLICT (session_id, subject, name, key) DO UPDATE
SET call = excluded.call, rules = excluded.rules, advice = excluded.advice, times = excluded.times
WHERE refused_calls.call <> excluded.call OR refused_calls.rules <> excluded.rules
   OR refused_calls.advice <> excluded.advice OR refused_calls.times <> excluded.times
RETURNING session_id;

-- name: count
-- How often something was refused to an effort's agents.
SELECT CAST(coalesce(sum(times), 0) AS BIGINT) FROM refused_calls WHERE effort_id = :effort_id;

-- name: of_effort
-- What was refused to an effort's agents, the oldest first.
SELECT session_id, subject, name, call, rules, advice, times, created_at
FROM refused_calls WHERE effort_id = :effort_id ORDER BY created_at, session_id, key LIMIT :limit;
