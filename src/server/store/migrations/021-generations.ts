import type { Migration } from './migration.ts'

export const generations: Migration = {
  number: 21,
  name: 'generations',
  oldestBinary: 7,
  tables: ['generations'],
  async up(tx) {
    await tx.unsafe(GENERATIONS)
  },
}

const GENERATIONS = `
  -- A row for each call to a model that writes. No other row refers to it, and it refers to none: rows come in batches of
  -- many organizations, and go by whole days. The instant is the millisecond in the id, so that an id leads to one day.
  CREATE TABLE generations (
    id text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    organization_id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    upstream_id text COLLATE "C",
    facts jsonb NOT NULL,
    PRIMARY KEY (id, created_at)
  ) PARTITION BY RANGE (created_at);
  CREATE INDEX generations_upstream ON generations (organization_id, upstream_id, created_at) WHERE upstream_id IS NOT NULL;

  -- Makes the partition of a day, UTC, where it is missing: apart, and then attached, as those of the ledger.
  CREATE FUNCTION generations_partition(of_day date) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
    partition text := 'generations_' || to_char(of_day, 'YYYY_MM_DD');
  BEGIN
    IF to_regclass(partition) IS NULL THEN
      PERFORM pg_advisory_xact_lock(7305848213);
      IF NOT EXISTS (
        SELECT FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = 'generations'::regclass AND c.relname = partition) THEN
        EXECUTE format('CREATE TABLE %I (LIKE generations INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', partition);
        EXECUTE format('ALTER TABLE generations ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', partition,
          of_day::timestamp AT TIME ZONE 'UTC', (of_day + 1)::timestamp AT TIME ZONE 'UTC');
      END IF;
    END IF;
    RETURN partition;
  END $$;
  SELECT generations_partition(utc_today()), generations_partition(utc_today() + 1);
`
