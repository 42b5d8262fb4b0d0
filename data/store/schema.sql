-- The store of one leaderboard. Times are UTC; NULL is unknown, never zero.
-- Deviations: percent of the published value, published standard errors, printed units.

CREATE TABLE meta (
    key VARCHAR PRIMARY KEY,
    value VARCHAR NOT NULL
);

CREATE TABLE papers (
    paper_id VARCHAR PRIMARY KEY,
    title VARCHAR NOT NULL,
    authors VARCHAR[] NOT NULL,
    year INTEGER NOT NULL,
    journal VARCHAR NOT NULL,
    discipline VARCHAR NOT NULL,
    doi VARCHAR,
    published VARCHAR,
    code_languages VARCHAR[] NOT NULL,
    lines_of_code BIGINT,
    licence VARCHAR,
    data_source VARCHAR,
    verified_by VARCHAR,
    sufficiency VARCHAR NOT NULL,
    sufficiency_note VARCHAR,
    provenance VARCHAR NOT NULL,
    rounding VARCHAR NOT NULL,
    version INTEGER NOT NULL
);

CREATE TABLE tables (
    paper_id VARCHAR NOT NULL REFERENCES papers (paper_id),
    table_slug VARCHAR NOT NULL,
    table_id VARCHAR NOT NULL,
    position INTEGER NOT NULL,
    number VARCHAR,
    caption VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    truth_kind VARCHAR,
    layout VARCHAR,
    source VARCHAR,
    n_columns INTEGER NOT NULL,
    notes VARCHAR NOT NULL,
    readable BOOLEAN NOT NULL,
    header JSON NOT NULL,
    body_rows JSON NOT NULL,
    panels JSON NOT NULL,
    star_levels JSON NOT NULL,
    rounding VARCHAR NOT NULL,
    PRIMARY KEY (paper_id, table_slug)
);

-- Published cells, settings and text included. `is_graded` marks results; `in_completion` those
-- of them that count towards coverage (interval bounds do not).
CREATE TABLE cells (
    paper_id VARCHAR NOT NULL,
    table_slug VARCHAR NOT NULL,
    "row" INTEGER NOT NULL,
    col INTEGER NOT NULL,
    part INTEGER NOT NULL,
    metric VARCHAR NOT NULL,
    is_graded BOOLEAN NOT NULL,
    in_completion BOOLEAN NOT NULL,
    row_label VARCHAR NOT NULL,
    col_labels VARCHAR[] NOT NULL,
    panel VARCHAR,
    text VARCHAR,
    value DOUBLE,
    decimals INTEGER,
    stars INTEGER,
    of_row INTEGER,
    of_col INTEGER,
    of_part INTEGER,
    unit VARCHAR,
    truth_kind VARCHAR NOT NULL,
    PRIMARY KEY (paper_id, table_slug, "row", col, part)
);

-- `kind`: contestant, reference, self_test; baseline rows are made by the builder.
CREATE TABLE arms (
    arm VARCHAR PRIMARY KEY,
    kind VARCHAR NOT NULL,
    scaffold VARCHAR NOT NULL,
    model VARCHAR,
    provider VARCHAR,
    knowledge_cutoff VARCHAR,
    methods_variant VARCHAR NOT NULL,
    named BOOLEAN NOT NULL,
    options JSON NOT NULL
);

CREATE TABLE runs (
    run_id VARCHAR PRIMARY KEY,
    paper_id VARCHAR NOT NULL,
    arm VARCHAR NOT NULL,
    repetition INTEGER NOT NULL,
    spec_hash VARCHAR,
    methods_hash VARCHAR,
    templates_hash VARCHAR,
    data_hash VARCHAR,
    seed BIGINT,
    status VARCHAR NOT NULL,
    gradable BOOLEAN NOT NULL,
    graded BOOLEAN NOT NULL,
    accepted_attempt INTEGER,
    n_attempts INTEGER NOT NULL,
    isolation VARCHAR,
    wall_limit_seconds DOUBLE,
    memory_limit_bytes BIGINT,
    wall_seconds DOUBLE,
    calls BIGINT,
    input_tokens BIGINT,
    cached_tokens BIGINT,
    output_tokens BIGINT,
    reasoning_tokens BIGINT,
    cost_usd DECIMAL(18, 6),
    produced VARCHAR[] NOT NULL,
    versions JSON NOT NULL,
    UNIQUE (paper_id, arm, repetition)
);

CREATE TABLE attempts (
    run_id VARCHAR NOT NULL REFERENCES runs (run_id),
    attempt INTEGER NOT NULL,
    status VARCHAR NOT NULL,
    started TIMESTAMP WITH TIME ZONE,
    ended TIMESTAMP WITH TIME ZONE,
    wall_seconds DOUBLE NOT NULL,
    exit_code INTEGER,
    signal INTEGER,
    limit_hit VARCHAR,
    cause VARCHAR,
    isolation VARCHAR NOT NULL,
    PRIMARY KEY (run_id, attempt)
);

-- Tries whose process died before they ended; they are no attempts.
CREATE TABLE interruptions (
    run_id VARCHAR NOT NULL REFERENCES runs (run_id),
    number INTEGER NOT NULL,
    started TIMESTAMP WITH TIME ZONE,
    last_seen TIMESTAMP WITH TIME ZONE,
    cause VARCHAR,
    PRIMARY KEY (run_id, number)
);

-- What a run put into a template, before any rescaling.
CREATE TABLE reproduced_cells (
    run_id VARCHAR NOT NULL,
    table_slug VARCHAR NOT NULL,
    "row" INTEGER NOT NULL,
    col INTEGER NOT NULL,
    part INTEGER NOT NULL,
    value DOUBLE,
    text VARCHAR,
    reason VARCHAR NOT NULL,
    PRIMARY KEY (run_id, table_slug, "row", col, part)
);

CREATE TABLE rubrics (
    rubric VARCHAR NOT NULL,
    version INTEGER NOT NULL,
    description VARCHAR NOT NULL,
    headline_cell_rule VARCHAR NOT NULL,
    headline_roll_up VARCHAR NOT NULL,
    scores DOUBLE[] NOT NULL,
    content JSON NOT NULL,
    PRIMARY KEY (rubric, version)
);

-- One row a published cell and cell rule. `factor` is 1 where nothing was rescaled; `deviation` is
-- what was cut into the letter, in `measure`; `deviation_se` and `deviation_se_print` are
-- distances, the second to the interval that the print allows.
CREATE TABLE cell_grades (
    run_id VARCHAR NOT NULL,
    rubric VARCHAR NOT NULL,
    cell_rule VARCHAR NOT NULL,
    table_slug VARCHAR NOT NULL,
    "row" INTEGER NOT NULL,
    col INTEGER NOT NULL,
    part INTEGER NOT NULL,
    grade VARCHAR,
    unrescued_grade VARCHAR,
    deviation DOUBLE,
    measure VARCHAR NOT NULL,
    reason VARCHAR NOT NULL,
    published DOUBLE,
    reproduced_raw DOUBLE,
    factor DOUBLE NOT NULL,
    reproduced DOUBLE,
    published_se DOUBLE,
    deviation_pct DOUBLE,
    deviation_se DOUBLE,
    deviation_se_print DOUBLE,
    units_off DOUBLE,
    sign_agrees BOOLEAN,
    stars_agree BOOLEAN,
    weak BOOLEAN NOT NULL,
    crosses DOUBLE[] NOT NULL,
    would_be_a_at INTEGER,
    PRIMARY KEY (run_id, rubric, cell_rule, table_slug, "row", col, part)
);

CREATE TABLE table_grades (
    run_id VARCHAR NOT NULL,
    rubric VARCHAR NOT NULL,
    cell_rule VARCHAR NOT NULL,
    roll_up VARCHAR NOT NULL,
    table_slug VARCHAR NOT NULL,
    truth VARCHAR NOT NULL,
    grade VARCHAR,
    score DOUBLE,
    n_cells INTEGER NOT NULL,
    n_expected INTEGER NOT NULL,
    n_produced INTEGER NOT NULL,
    rescaled_cells INTEGER NOT NULL,
    weak_cells INTEGER NOT NULL,
    factor DOUBLE NOT NULL,
    aligned_by VARCHAR NOT NULL,
    gradable BOOLEAN NOT NULL,
    source VARCHAR,
    problems VARCHAR[] NOT NULL,
    extra_cells VARCHAR[] NOT NULL,
    PRIMARY KEY (run_id, rubric, cell_rule, roll_up, table_slug, truth)
);

CREATE TABLE paper_grades (
    run_id VARCHAR NOT NULL,
    rubric VARCHAR NOT NULL,
    rubric_version INTEGER NOT NULL,
    rubric_hash VARCHAR NOT NULL,
    cell_rule VARCHAR NOT NULL,
    roll_up VARCHAR NOT NULL,
    truth VARCHAR NOT NULL,
    is_headline BOOLEAN NOT NULL,
    grade VARCHAR,
    score DOUBLE,
    n_tables INTEGER NOT NULL,
    coverage DOUBLE,
    PRIMARY KEY (run_id, rubric, cell_rule, roll_up, truth)
);

-- Scripts and logs: zlib-compressed, capped, hashed over the whole file.
CREATE TABLE artifacts (
    run_id VARCHAR NOT NULL,
    attempt INTEGER NOT NULL,
    path VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    size BIGINT NOT NULL,
    sha256 VARCHAR NOT NULL,
    truncated BOOLEAN NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (run_id, attempt, path)
);

-- What could not be read; nothing is dropped silently.
CREATE TABLE problems (
    path VARCHAR NOT NULL,
    problem VARCHAR NOT NULL
);
