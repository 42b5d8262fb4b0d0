-- Views for what people ask.

-- Published coefficients that have a positive standard error in print, in the same unit; where
-- several are linked to one, the first counts.
CREATE VIEW published_standard_errors AS
SELECT
    e.paper_id, e.table_slug, e."row", e.col, e.part,
    arg_min(s.value, (s."row", s.col, s.part)) AS published_se
FROM cells e
JOIN cells s
    ON s.paper_id = e.paper_id AND s.table_slug = e.table_slug AND s.metric = 'standard_error'
    AND s.of_row = e."row" AND s.of_col = e.col AND s.of_part = e.part
    AND s.unit IS NOT DISTINCT FROM e.unit
WHERE s.value IS NOT NULL AND e.value IS NOT NULL AND e.metric = 'coefficient'
GROUP BY ALL
HAVING published_se > 0;

-- Results that a run is asked for.
CREATE VIEW expected_cells AS
SELECT
    c.*, t.kind AS table_kind, s.published_se
FROM cells c
JOIN tables t USING (paper_id, table_slug)
LEFT JOIN published_standard_errors s USING (paper_id, table_slug, "row", col, part)
WHERE c.is_graded AND c.value IS NOT NULL;

-- Runs that count: begun and ended, not withdrawn. A failure of the machine is marked as such.
CREATE VIEW ended_runs AS
SELECT r.*, a.kind AS arm_kind, r.status = 'infra_failed' AS infrastructure_failed
FROM runs r JOIN arms a USING (arm)
WHERE r.status NOT IN ('planned', 'claimed', 'running', 'invalid');

-- One row an expected cell of a run and a cell rule, missing cells included.
CREATE VIEW run_cells AS
SELECT
    r.run_id, r.arm, r.arm_kind, r.repetition, r.status, r.infrastructure_failed, r.graded,
    e.paper_id, e.table_slug, e."row", e.col, e.part, e.metric, e.in_completion, e.row_label,
    e.col_labels, e.panel, e.text AS published_text, e.value AS published_value, e.truth_kind,
    e.published_se, g.rubric, g.cell_rule, g.grade, g.reason, g.reproduced_raw, g.factor,
    g.reproduced, g.deviation_pct, g.deviation_se,
    g.deviation_se_print, g.units_off, g.sign_agrees, g.stars_agree,
    g.weak, g.would_be_a_at
FROM ended_runs r
JOIN expected_cells e USING (paper_id)
LEFT JOIN cell_grades g USING (run_id, table_slug, "row", col, part);

-- The cells that a reader would look at first: produced and wrong, worst first.
CREATE VIEW wrong_cells AS
SELECT * FROM run_cells WHERE grade IN ('D', 'E')
ORDER BY rubric, cell_rule, abs(deviation_se) DESC NULLS LAST, abs(deviation_pct) DESC NULLS LAST;

-- How runs ended, by arm.
CREATE VIEW run_statuses AS
SELECT
    arm, count(*) AS runs,
    count(*) FILTER (status = 'finished') AS finished,
    count(*) FILTER (status = 'timed_out') AS timed_out,
    count(*) FILTER (status = 'limit_reached') AS limit_reached,
    count(*) FILTER (status = 'refused') AS refused,
    count(*) FILTER (status = 'infra_failed') AS infra_failed,
    count(*) FILTER (status = 'invalid') AS invalid,
    count(*) FILTER (status IN ('planned', 'claimed', 'running')) AS unfinished,
    count(*) FILTER (graded) AS graded
FROM runs JOIN arms USING (arm) WHERE kind <> 'baseline'
GROUP BY arm ORDER BY arm;

-- Scripts that runs wrote, with the table that each is for.
CREATE VIEW scripts AS
SELECT run_id, attempt, path, size, sha256, truncated,
    regexp_extract(path, '([a-z0-9_]+)\.py$', 1) AS table_slug
FROM artifacts WHERE kind = 'script';
