-- name: known_among
-- Which of some turns, whose keys come as one text, are there already.
SELECT m.source_key FROM json_array_elements_text(CAST(:keys AS JSON)) AS asked JOIN messages m ON m.source_key = asked;
