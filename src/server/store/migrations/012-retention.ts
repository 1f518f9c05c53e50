import type { Migration } from './migration.ts'

export const retention: Migration = {
  number: 12,
  name: 'retention',
  oldestBinary: 7,
  tables: ['retention', 'audit_pruned', 'ledger_closing', 'ledger_closing_sums'],
  async up(tx) {
    for (const statements of [TURNS, AUDIT, LEDGER, INDEXES]) await tx.unsafe(statements)
  },
}

const TURNS = `
  -- A row of the guarded machine: of all processes one prunes at a time.
  CREATE TABLE retention (
    id text COLLATE "C" PRIMARY KEY,
    state text NOT NULL CHECK (state IN ('resting', 'running')),
    attempt integer NOT NULL DEFAULT 0,
    lease_until timestamptz NOT NULL DEFAULT clock_timestamp()
  ) WITH (fillfactor = 10);
  INSERT INTO retention (id, state) VALUES ('all', 'resting');
`

const AUDIT = `
  -- The last event of each chain that was pruned: what is kept goes on from its hash.
  CREATE TABLE audit_pruned (
    organization_id uuid PRIMARY KEY REFERENCES organizations,
    n bigint NOT NULL,
    hash bytea NOT NULL
  );

  -- As before, but it does not look where all is pruned.
  CREATE OR REPLACE FUNCTION audit_n_from(org uuid, moment timestamptz) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
  DECLARE
    low bigint := COALESCE((SELECT n FROM audit_pruned WHERE organization_id = org), 0) + 1;
    high bigint := COALESCE((SELECT n FROM audit WHERE organization_id = org ORDER BY n DESC LIMIT 1), 0) + 1;
    middle bigint;
    found timestamptz;
  BEGIN
    WHILE low < high LOOP
      middle := (low + high) / 2;
      SELECT at INTO found FROM audit WHERE organization_id = org AND n >= middle ORDER BY n LIMIT 1;
      IF found IS NULL OR found >= moment THEN high := middle; ELSE low := middle + 1; END IF;
    END LOOP;
    RETURN low;
  END $$;
`

const LEDGER = `
  -- Months of the ledger that are being added up before they are dropped, and how far that is. Whoever writes to one of
  -- them makes it stale: its sums are then begun anew.
  CREATE TABLE ledger_closing (
    partition text COLLATE "C" PRIMARY KEY,
    relation oid NOT NULL,
    next_block bigint NOT NULL DEFAULT 0,
    is_stale boolean NOT NULL DEFAULT false
  ) WITH (fillfactor = 10);

  -- "rows" are an organization's, and stand with its account.
  CREATE TABLE ledger_closing_sums (
    partition text COLLATE "C" NOT NULL REFERENCES ledger_closing ON DELETE CASCADE,
    account_id text COLLATE "C" NOT NULL,
    spent_nano bigint NOT NULL,
    byok_nano bigint NOT NULL,
    rows bigint NOT NULL,
    PRIMARY KEY (partition, account_id)
  ) WITH (fillfactor = 50);

  CREATE FUNCTION ledger_closing_touched() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    UPDATE ledger_closing SET is_stale = true WHERE partition = TG_TABLE_NAME AND NOT is_stale;
    RETURN NULL;
  END $$;
`

const INDEXES = `
  -- What is kept for a longer time is not passed over again and again by whoever looks for what is not.
  DROP INDEX webhook_deliveries_old;
  CREATE INDEX webhook_deliveries_ended ON webhook_deliveries (state, ended_at, id) WHERE ended_at IS NOT NULL;
  CREATE INDEX video_jobs_prunable ON video_jobs (ended_at, id) WHERE ended_at IS NOT NULL AND clips_expire_at IS NULL;
`
