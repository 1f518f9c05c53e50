import type { Migration } from './migration.ts'

export const requests: Migration = {
  number: 26,
  name: 'requests',
  oldestBinary: 7,
  tables: ['requests', 'request_segments', 'request_payments', 'request_marks'],
  async up(tx) {
    await tx.unsafe(REQUESTS)
  },
}

/** The function that creates the partition of a day; `lock` is a unique number. */
export const partitionMaker = (table: string, lock: number): string => `
  CREATE FUNCTION ${table}_partition(of_day date) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
    partition text := '${table}_' || to_char(of_day, 'YYYY_MM_DD');
  BEGIN
    IF to_regclass(partition) IS NULL THEN
      PERFORM pg_advisory_xact_lock(${lock});
      IF NOT EXISTS (
        SELECT FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = '${table}'::regclass AND c.relname = partition) THEN
        EXECUTE format('CREATE TABLE %I (LIKE ${table} INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE)', partition);
        EXECUTE format('ALTER TABLE ${table} ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', partition,
          of_day::timestamp AT TIME ZONE 'UTC', (of_day + 1)::timestamp AT TIME ZONE 'UTC');
      END IF;
    END IF;
    RETURN partition;
  END $$;`

const REQUESTS = `
  -- The request log. Of many calls of an organization that end together, a row for all of them (request_segments); else a
  -- row for each finished call, or for so many as its weight says (requests). No other row refers to the log, and it refers
  -- to none: rows come in batches of many organizations, and go by whole days. Calls without a valid key have the
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
    -- When the ledger has the payment.
    paid_at timestamptz,
    PRIMARY KEY (organization_id, ended_at, batch, n)
  ) PARTITION BY RANGE (ended_at);
  CREATE INDEX requests_ids ON requests (request_id);
  CREATE INDEX requests_errors ON requests (organization_id, ended_at, batch, n) WHERE error IS NOT NULL;
  CREATE INDEX requests_recovered ON requests (paid_at) WHERE is_recovered;

  -- "packed" has the calls as packed-calls.ts packs them, and is small already. "ended_at" is the end of the last, "first_at"
  -- that of the first. Their request ids have one prefix, and numbers from "id_first" to "id_last".
  CREATE TABLE request_segments (
    organization_id uuid NOT NULL,
    ended_at timestamptz NOT NULL,
    batch bigint NOT NULL,
    part int NOT NULL,
    first_at timestamptz NOT NULL,
    calls int NOT NULL,
    failures int NOT NULL,
    id_prefix text COLLATE "C" NOT NULL,
    id_first bigint NOT NULL,
    id_last bigint NOT NULL,
    packed bytea NOT NULL,
    PRIMARY KEY (organization_id, ended_at, batch, part)
  ) PARTITION BY RANGE (ended_at);
  ALTER TABLE request_segments ALTER packed SET STORAGE EXTERNAL;
  CREATE INDEX request_segments_ids ON request_segments (organization_id, id_prefix, id_last);
  CREATE INDEX request_segments_batches ON request_segments (batch);

  -- Payments of the calls of a batch in a second, in sums as request-rows.ts takes them: where those of the ledger are the
  -- same, the log has each of its payments. Rows go when their second was compared.
  CREATE TABLE request_payments (
    second timestamptz NOT NULL,
    batch bigint NOT NULL,
    calls int NOT NULL,
    nano bigint NOT NULL,
    ms bigint NOT NULL,
    PRIMARY KEY (second, batch)
  );

  -- Makes the partition of a day, UTC, where it is missing: apart, and then attached, as those of the ledger.
${partitionMaker('requests', 7305848214)}
${partitionMaker('request_segments', 7305848215)}
  SELECT requests_partition(utc_today() + n), request_segments_partition(utc_today() + n) FROM generate_series(0, 1) AS n;

  -- How far the log was compared with the ledger. One row; whoever compares holds it.
  CREATE TABLE request_marks (
    id text PRIMARY KEY,
    through timestamptz NOT NULL
  );
  INSERT INTO request_marks VALUES ('ledger', date_trunc('second', clock_timestamp()));

  -- Rows of the ledger come in the order of their instants, so that an index of ranges finds those of a minute.
  CREATE INDEX ledger_at ON ledger USING brin (at) WITH (pages_per_range = 32, autosummarize = on);
`
