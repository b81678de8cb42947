-- name: put
-- What a review found; the same thing again is open again.
INSERT INTO findings (run_id, effort_id, round, fingerprint, severity, file, line, text, state)
VALUES (:run_id, :effort_id, :round, :fingerprint, :severity, :file, :line, :text, 'open')
ON CONFLICT (run_id, fingerprint) DO UPDATE SET
    effort_id = excluded.effort_id, round = excluded.round, severity = excluded.severity, file = excluded.file,
    line = excluded.line, text = excluded.text, state = 'open';

-- name: close
-- What a round's review says no more is gone.
UPDATE findings SET state = 'gone' WHERE run_id = :run_id AND state = 'open' AND round < :round;

-- name: of_run
-- What the reviews of a run found, in the order in which it was first said.
SELECT effort_id, round, fingerprint, severity, file, line, text, state FROM findings WHERE run_id = :run_id ORDER BY id;
