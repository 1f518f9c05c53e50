import type { Migration } from './migration.ts'

export const requests: Migration = {
  number: 26,
  name: 'requests',
  oldestBinary: 7,
  tables: ['requests', 'request_marks'],
  async up(tx) {
    await tx.unsafe(REQUESTS)
  },
}

const REQUESTS = `
  -- The request log: a row for each finished call, or for so many as its weight says. No other row refers to it, and it
  -- refers to none: rows come in batches of many organizations, and go by whole days. Calls without a valid key have the
  -- organization of zeros. A batch that is written twice finds its rows by their key.
  CREATE TABLE requests (
    organization_id uuid NOT NULL,
    ended_at timestamptz NOT NULL,
    batch bigint NOT NULL,
    n int NOT NULL,
    request_id text COLLATE "C" NOT NULL,
    workspace_id uuid,
    key_hash text COLLATE "C",
    operation text COLLATE "C" NOT NULL,
    model text COLLATE "C",
    provider text COLLATE "C",
    status smallint NOT NULL,
    error text COLLATE "C",
    limit_kind text COLLATE "C",
    duration_ms real,
    auth_ms real,
    limits_ms real,
    validate_ms real,
    hold_ms real,
    upstream_ms real,
    first_ms real,
    input_tokens bigint,
    output_tokens bigint,
    cached_tokens bigint,
    cost_nano bigint,
    request_bytes bigint,
    reply_bytes bigint,
    attempts int,
    failed jsonb,
    weight int NOT NULL,
    flags int NOT NULL,
    is_recovered boolean NOT NULL DEFAULT false,
    PRIMARY KEY (organization_id, ended_at, batch, n)
  ) PARTITION BY RANGE (ended_at);
  CREATE INDEX requests_ids ON requests (request_id);
  CREATE INDEX requests_errors ON requests (organization_id, ended_at, batch, n) WHERE error IS NOT NULL;
  CREATE INDEX requests_recovered ON requests (request_id) WHERE is_recovered;

  -- Makes the partition of a day, UTC, where it is missing: apart, and then attached, as those of the ledger.
  CREATE FUNCTION requests_partition(of_day date) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
    partition text := 'requests_' || to_char(of_day, 'YYYY_MM_DD');
  BEGIN
    IF to_regclass(partition) IS NULL THEN
      PERFORM pg_advisory_xact_lock(7305848214);
      IF NOT EXISTS (
        SELECT FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'requests'::regclass AND c.relname = partition) THEN
        EXECUTE format('CREATE TABLE %I (LIKE requests INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', partition);
        EXECUTE format('ALTER TABLE requests ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', partition,
          of_day::timestamp AT TIME ZONE 'UTC', (of_day + 1)::timestamp AT TIME ZONE 'UTC');
      END IF;
    END IF;
    RETURN partition;
  END $$;
  SELECT requests_partition(utc_today()), requests_partition(utc_today() + 1);

  -- How far the log was compared with the ledger. One row; whoever compares holds it.
  CREATE TABLE request_marks (
    id text PRIMARY KEY,
    through timestamptz NOT NULL
  );
  INSERT INTO request_marks VALUES ('ledger', clock_timestamp());

  -- Rows of the ledger come in the order of their instants, so that an index of ranges finds those of a minute.
  CREATE INDEX ledger_at ON ledger USING brin (at) WITH (pages_per_range = 32, autosummarize = on);
`
