-- timeline/schema.sql: what a run of stepline leaves behind, for anyone with the sqlite3 shell.
--
-- One file holds any number of runs; the first column of a table of runs says which. Times are whole picoseconds (ps,
-- 1e-12 s) from the start of the step, sizes whole bytes, rates per second, shares fractions of one. A text column
-- holds names as the program prints them. NULL means "does not apply". The views at the end answer the usual
-- questions in milliseconds. Spans have no secondary index, so that a run is stored quickly; where one is wanted:
-- CREATE INDEX span_by_time ON span (run, t0_ps);

PRAGMA application_id = 1937010796; -- "stpl", so that 'file' and we know whose database it is
PRAGMA user_version = 3;            -- of this schema; a program refuses any other

-- One row a run: what was run, and its summary.
CREATE TABLE run (
    id                 INTEGER PRIMARY KEY, -- 1, 2, ... in the order of writing
    created            TEXT NOT NULL,       -- when it was written, UTC: 2024-05-01T12:00:00Z
    name               TEXT NOT NULL,       -- of the scenario
    scenario           TEXT NOT NULL,       -- its text, with what --set changed
    version            TEXT NOT NULL,       -- of stepline
    fidelity           TEXT NOT NULL,       -- messages: every message simulated
    fingerprint        TEXT NOT NULL,       -- 16 hex digits: equal runs have equal ones
    model              TEXT NOT NULL,
    machine            TEXT NOT NULL,
    chip               TEXT NOT NULL,
    counting           TEXT NOT NULL,       -- of model FLOPs: 6N, 6N+12LHQT, ...
    ranks              INTEGER NOT NULL,    -- GPUs
    tokens             REAL NOT NULL,       -- of a step, all ranks together
    step_ps            INTEGER NOT NULL,    -- length of the step, ps
    mfu                REAL NOT NULL,       -- model FLOPs utilisation, fraction of peak
    hfu                REAL NOT NULL,       -- the same with recomputed FLOPs
    tokens_per_s       REAL NOT NULL,       -- all ranks together
    model_flops        REAL NOT NULL,       -- FLOPs of the step, all ranks together
    peak_flops         REAL NOT NULL,       -- FLOP/s of one GPU
    last_rank          INTEGER NOT NULL,    -- the rank that finishes last; the next five columns are its own
    compute_ps         INTEGER NOT NULL,    -- time with a compute operation running
    exposed_comm_ps    INTEGER NOT NULL,    -- communication and no compute
    idle_ps            INTEGER NOT NULL,    -- neither
    communication_ps   INTEGER NOT NULL,    -- communication, hidden or not
    gradient_bytes     INTEGER NOT NULL,    -- of one rank
    bound_ps           INTEGER NOT NULL,    -- no step of this job on this machine can be shorter
    perfect_overlap_ps INTEGER NOT NULL,    -- max(compute, communication in one bucket)
    buckets            INTEGER NOT NULL,    -- gradient buckets
    events             INTEGER NOT NULL,    -- that the simulator ran
    messages           INTEGER NOT NULL,    -- that were sent
    wall_s             REAL NOT NULL        -- real seconds of the simulation
);

-- The summary again, a row a figure, in SI units and under the keys of --json (step_s, mfu, ...).
CREATE TABLE metric (
    run   INTEGER NOT NULL REFERENCES run (id),
    name  TEXT NOT NULL,
    value REAL NOT NULL,
    PRIMARY KEY (run, name)
) WITHOUT ROWID;

-- What the program took for granted, one sentence a row.
CREATE TABLE assumption (
    run  INTEGER NOT NULL REFERENCES run (id),
    id   INTEGER NOT NULL, -- 0, 1, ...
    text TEXT NOT NULL,
    PRIMARY KEY (run, id)
) WITHOUT ROWID;

-- Where something can happen: one stream of one rank, or one directed link (those that carried something).
CREATE TABLE lane (
    run        INTEGER NOT NULL REFERENCES run (id),
    id         INTEGER NOT NULL, -- 0, 1, ...: streams by rank, then links
    rank       INTEGER,          -- NULL: a link's lane
    stream     TEXT,             -- "compute", "dp"; NULL: a link's lane
    link       INTEGER,          -- link_use.link; NULL: a stream's lane
    first_span INTEGER,          -- span.id of its first span; its spans follow each other
    spans      INTEGER NOT NULL, -- how many; links have none, their totals are in link_use
    PRIMARY KEY (run, id)
) WITHOUT ROWID;

-- One operation on one lane.
CREATE TABLE span (
    id          INTEGER PRIMARY KEY, -- by lane, then in order of time
    run         INTEGER NOT NULL REFERENCES run (id),
    lane        INTEGER NOT NULL, -- lane.id
    kind        TEXT NOT NULL,    -- forward, backward, recompute, optimizer, all_reduce, reduce_scatter,
                                  -- all_gather, broadcast, send, copy, load, launch
    name        TEXT NOT NULL,    -- "layer 31 backward"
    t0_ps       INTEGER NOT NULL, -- start
    t1_ps       INTEGER NOT NULL, -- end
    bytes       INTEGER,          -- vector of a collective; NULL: compute
    layer       INTEGER,          -- block of the model, from 0; NULL: none
    micro_batch INTEGER           -- from 0; NULL: none
);

-- Totals of the directed links that carried something.
CREATE TABLE link_use (
    run       INTEGER NOT NULL REFERENCES run (id),
    link      INTEGER NOT NULL, -- its id in the machine
    name      TEXT NOT NULL,    -- "gpu0->nvswitch0"
    class     TEXT NOT NULL,    -- nvlink, pcie, cpu, network, wan
    bandwidth REAL NOT NULL,    -- bytes/s, this direction
    bytes     INTEGER NOT NULL, -- carried
    busy_ps   INTEGER NOT NULL, -- time in which it was sending
    PRIMARY KEY (run, link)
) WITHOUT ROWID;

-- Stretches of the last rank's step in which communication runs and no compute covers it.
CREATE TABLE exposure (
    run   INTEGER NOT NULL REFERENCES run (id),
    t0_ps INTEGER NOT NULL,
    t1_ps INTEGER NOT NULL,
    name  TEXT NOT NULL -- the operation that was waited for
);

-- Memory of the first rank of every pipeline stage: bytes of a kind from a moment on, in order of time.
CREATE TABLE memory (
    run   INTEGER NOT NULL REFERENCES run (id),
    rank  INTEGER NOT NULL,
    t_ps  INTEGER NOT NULL,
    kind  TEXT NOT NULL,   -- weights, gradients, optimizer, gathered, activations, logits, buffers, allowance
    bytes INTEGER NOT NULL -- of this kind, until its next row
);

-- One row a sweep. Its points follow in table point; the runs of points have a row in run and their metrics, and no
-- timeline (no lanes, spans, links, exposures, memory, assumptions).
CREATE TABLE sweep (
    id       INTEGER PRIMARY KEY, -- 1, 2, ...
    created  TEXT NOT NULL,       -- when it was first started, UTC
    name     TEXT NOT NULL,       -- of the scenario
    scenario TEXT NOT NULL,       -- its text
    axes     TEXT NOT NULL,       -- JSON: {"job.bucket":["1 MiB","25 MiB"]}, the last axis fastest
    mode     TEXT NOT NULL,       -- product, zip
    points   INTEGER NOT NULL,    -- how many there are to be
    hash     TEXT NOT NULL        -- 16 hex digits of scenario, axes and mode: the same sweep again is the same row
);

-- The points of sweeps that are through, each written in a transaction of its own when it was.
CREATE TABLE point (
    sweep INTEGER NOT NULL REFERENCES sweep (id),
    id    INTEGER NOT NULL, -- its place in the grid, from 0
    axes  TEXT NOT NULL,    -- JSON: {"job.bucket":"25 MiB"}
    hash  TEXT NOT NULL,    -- 16 hex digits of what was run: an equal point of a later sweep takes this run over
    run   INTEGER REFERENCES run (id), -- NULL: failed
    error TEXT,                        -- why; NULL: it did not
    PRIMARY KEY (sweep, id)
) WITHOUT ROWID;
CREATE INDEX point_by_hash ON point (hash);

-- Published training runs beside simulated ones, as 'stepline validate' leaves them: all that it was asked for in one
-- transaction, a row each.
CREATE TABLE published (
    validation  INTEGER NOT NULL, -- 1, 2, ... in the order of writing: which of them
    id          INTEGER NOT NULL, -- its place in the table of published runs, from 0
    created     TEXT NOT NULL,    -- when it was written, UTC
    version     TEXT NOT NULL,    -- of stepline
    name        TEXT NOT NULL,    -- of the published run: 'stepline validate --run NAME' prints its scenario
    source      TEXT NOT NULL,    -- who published it, in a word: "palm"
    model       TEXT NOT NULL,    -- as published; chip, precision likewise
    chip        TEXT NOT NULL,
    precision   TEXT NOT NULL,
    gpus        INTEGER NOT NULL,
    split       TEXT NOT NULL,    -- calib: constants may be fitted to it; headline: none ever is
    framework   TEXT,             -- that stands for its own; NULL: it cannot be run
    machine     TEXT,             -- of the library, likewise
    published_s REAL,             -- length of its step, printed or from its own formula; NULL: neither
    simulated_s REAL,             -- NULL, as all that follow: not simulated, for the reason at the end
    low_s       REAL,             -- range of simulated_s over what is not published; NULL: all that matters is
    high_s      REAL,
    mfu         REAL,             -- attention counted in full, fraction of peak
    hfu         REAL,             -- the same with recomputed FLOPs
    compute_s   REAL,             -- of the rank that finishes last; this and the next three sum to its step
    exposed_s   REAL,             -- communication that no compute covers
    bubble_s    REAL,             -- of the pipeline
    rest_s      REAL,             -- launches and loading
    peak_bytes  REAL,             -- memory of the fullest stage
    reason      TEXT,             -- why it was not simulated; NULL: it was
    PRIMARY KEY (validation, id)
) WITHOUT ROWID;

-- Points with what came out of them.
CREATE VIEW sweep_point AS
SELECT point.sweep, point.id AS point, point.axes, point.run, run.step_ps / 1e12 AS step_s, run.mfu, run.tokens_per_s,
       run.compute_ps / 1e12 AS compute_s, run.exposed_comm_ps / 1e12 AS exposed_comm_s, point.error
FROM point LEFT JOIN run ON run.id = point.run;

-- Spans with their rank and stream, in milliseconds.
CREATE VIEW span_ms AS
SELECT span.run, lane.rank, lane.stream, span.kind, span.name, span.t0_ps / 1e9 AS start_ms, span.t1_ps / 1e9 AS end_ms,
       (span.t1_ps - span.t0_ps) / 1e9 AS length_ms, span.bytes, span.layer, span.micro_batch
FROM span JOIN lane ON lane.run = span.run AND lane.id = span.lane;

-- Which operations the last rank waited for, longest first; share is of the step.
CREATE VIEW exposed_by_operation AS
SELECT exposure.run, exposure.name, count(*) AS stretches, sum(exposure.t1_ps - exposure.t0_ps) / 1e9 AS exposed_ms,
       sum(exposure.t1_ps - exposure.t0_ps) * 1.0 / run.step_ps AS share
FROM exposure JOIN run ON run.id = exposure.run
GROUP BY exposure.run, exposure.name ORDER BY exposure.run, exposed_ms DESC, exposure.name;

-- Links by the share of the step in which they were sending.
CREATE VIEW busiest_links AS
SELECT link_use.run, link_use.link, link_use.name, link_use.class, link_use.bandwidth, link_use.bytes,
       link_use.busy_ps / 1e9 AS busy_ms, link_use.busy_ps * 1.0 / run.step_ps AS utilisation
FROM link_use JOIN run ON run.id = link_use.run
ORDER BY link_use.run, utilisation DESC, link_use.link;

-- Time of each kind of work on each rank.
CREATE VIEW time_by_kind AS
SELECT span.run, lane.rank, span.kind, count(*) AS spans, sum(span.t1_ps - span.t0_ps) / 1e9 AS total_ms
FROM span JOIN lane ON lane.run = span.run AND lane.id = span.lane
GROUP BY span.run, lane.rank, span.kind;
