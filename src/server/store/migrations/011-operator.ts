import type { Migration } from './migration.ts'

export const operator: Migration = {
  number: 11,
  name: 'operator',
  oldestBinary: 7,
  tables: ['sweep_reports'],
  async up(tx) {
    for (const statements of [JOBS, DELIVERIES, SWEEPS]) await tx.unsafe(statements)
  },
}

const JOBS = `
  -- What is known of a job's way, for operators; each is written with a step that is written anyway.
  ALTER TABLE video_jobs
    ADD COLUMN polls integer NOT NULL DEFAULT 0,
    ADD COLUMN running_at timestamptz,
    ADD COLUMN storing_at timestamptz;
  -- Lists of an organization, by each filter, newest first. Jobs of all states are merged from one range for each.
  CREATE INDEX video_jobs_listed ON video_jobs (organization_id, state, created_at, id);
  -- Not of open jobs, whose rows are written every few seconds: there are never so many of them.
  CREATE INDEX video_jobs_provider ON video_jobs (organization_id, provider, created_at, id) WHERE state IN ('completed', 'failed', 'cancelled', 'expired');
`

const DELIVERIES = `
  ALTER TABLE webhook_deliveries ADD COLUMN organization_id uuid;
  UPDATE webhook_deliveries d SET organization_id = w.organization_id FROM workspaces w WHERE w.id = d.workspace_id;
  CREATE INDEX webhook_deliveries_listed ON webhook_deliveries (organization_id, state, created_at, id);

  -- Whoever writes one knows its workspace alone, and a node of an older version no more than that.
  CREATE FUNCTION webhook_delivery_owner() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    SELECT organization_id INTO NEW.organization_id FROM workspaces WHERE id = NEW.workspace_id;
    RETURN NEW;
  END $$;
  CREATE TRIGGER webhook_deliveries_owner BEFORE INSERT ON webhook_deliveries
    FOR EACH ROW WHEN (NEW.organization_id IS NULL) EXECUTE FUNCTION webhook_delivery_owner();
`

const SWEEPS = `
  -- Of each runner its last sweep of all that is stored.
  CREATE TABLE sweep_reports (
    node text NOT NULL,
    slot integer NOT NULL,
    ended_at timestamptz NOT NULL,
    report jsonb NOT NULL,
    PRIMARY KEY (node, slot)
  );
`
