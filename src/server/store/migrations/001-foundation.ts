import type { Migration } from './migration.ts'

export const foundation: Migration = {
  number: 1,
  name: 'foundation',
  oldestBinary: 1,
  tables: ['organizations', 'workspaces', 'api_keys', 'epoch', 'invalidations', 'fronts'],
  async up(tx) {
    for (const statements of [OWNERS, KEYS, EPOCH, FRONTS]) await tx.unsafe(statements)
  },
}

const OWNERS = `
  CREATE TABLE organizations (
    id uuid PRIMARY KEY,
    name text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
  );

  CREATE TABLE workspaces (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations,
    name text NOT NULL,
    slug text NOT NULL,
    is_default boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT workspaces_slug_key UNIQUE (organization_id, slug),
    CONSTRAINT workspaces_owner_key UNIQUE (organization_id, id)
  );
  CREATE UNIQUE INDEX workspaces_default_key ON workspaces (organization_id) WHERE is_default;
`

const KEYS = `
  -- Revoked keys stay: ledger and audit rows name them.
  CREATE TABLE api_keys (
    hash text PRIMARY KEY CHECK (hash ~ '^[0-9a-f]{64}$'),
    kind text NOT NULL CHECK (kind IN ('inference', 'management', 'intern')),
    name text NOT NULL,
    organization_id uuid NOT NULL REFERENCES organizations,
    workspace_id uuid,
    intern_id uuid,
    rate_limit_rpm integer CHECK (rate_limit_rpm > 0),
    is_disabled boolean NOT NULL DEFAULT false,
    expires_at timestamptz,
    revoked_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    FOREIGN KEY (organization_id, workspace_id) REFERENCES workspaces (organization_id, id),
    CHECK ((kind = 'management') = (workspace_id IS NULL)),
    CHECK ((kind = 'intern') = (intern_id IS NOT NULL))
  );
  CREATE INDEX api_keys_newest ON api_keys (organization_id, created_at DESC, hash);
`

const EPOCH = `
  -- One row: its lock puts the numbers in commit order, which a sequence does not.
  CREATE TABLE epoch (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    n bigint NOT NULL
  ) WITH (fillfactor = 10);
  INSERT INTO epoch (n) VALUES (0);

  CREATE TABLE invalidations (
    n bigint PRIMARY KEY,
    kind text NOT NULL,
    id text NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp()
  );
  CREATE INDEX invalidations_at ON invalidations (at);
`

const FRONTS = `
  CREATE TABLE fronts (
    id uuid PRIMARY KEY,
    node text NOT NULL,
    connections integer NOT NULL,
    epoch bigint NOT NULL,
    heartbeat_at timestamptz NOT NULL
  );
`
