import type { Migration } from './migration.ts'

export const vault: Migration = {
  number: 3,
  name: 'vault',
  oldestBinary: 1,
  tables: ['audit_heads', 'audit', 'vaults', 'vault_keys', 'interns', 'secrets'],
  async up(tx) {
    for (const statements of [WORKSPACES, FRONTS, AUDIT, VAULTS, INTERNS, SECRETS])
      await tx.unsafe(statements)
  },
}

const WORKSPACES = `
  ALTER TABLE workspaces
    ADD COLUMN is_in_programme boolean NOT NULL DEFAULT true,
    ADD COLUMN may_write_vault boolean NOT NULL DEFAULT true;
`

const FRONTS = `
  -- The root key that the front wraps with: a rotation waits until no front wraps with another one.
  ALTER TABLE fronts ADD COLUMN root_key_id text;
`

const AUDIT = `
  -- The lock on an organization's row puts its events in order, and its hash is that of the newest one.
  CREATE TABLE audit_heads (
    organization_id uuid PRIMARY KEY REFERENCES organizations,
    n bigint NOT NULL DEFAULT 0,
    hash bytea NOT NULL DEFAULT '\\x0000000000000000000000000000000000000000000000000000000000000000'
  ) WITH (fillfactor = 10);

  -- hash = SHA-256(hash of the row before || text), and text holds all of the row: the other columns are for finding it.
  CREATE TABLE audit (
    organization_id uuid NOT NULL REFERENCES organizations,
    n bigint NOT NULL,
    at timestamptz NOT NULL,
    workspace_id uuid,
    operation text NOT NULL,
    outcome text NOT NULL,
    object_kind text NOT NULL,
    object_id text NOT NULL,
    actor_id text,
    text text NOT NULL,
    hash bytea NOT NULL,
    PRIMARY KEY (organization_id, n)
  );
  CREATE INDEX audit_object ON audit (organization_id, object_kind, object_id, n);

  -- One statement locks, hashes and appends, so that nobody waits for another one's round trip.
  CREATE FUNCTION audit_append(org uuid, events jsonb) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    head audit_heads;
    event jsonb;
    line text;
    stamp timestamptz;
  BEGIN
    INSERT INTO audit_heads (organization_id) VALUES (org) ON CONFLICT DO NOTHING;
    SELECT * INTO head FROM audit_heads WHERE organization_id = org FOR UPDATE;
    FOR event IN SELECT * FROM jsonb_array_elements(events) LOOP
      stamp := clock_timestamp();
      head.n := head.n + 1;
      line := jsonb_build_object('n', head.n, 'at', to_char(stamp AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
        'organization_id', org) || event;
      head.hash := sha256(head.hash || convert_to(line, 'UTF8'));
      INSERT INTO audit (organization_id, n, at, workspace_id, operation, outcome, object_kind, object_id, actor_id, text, hash)
      VALUES (org, head.n, stamp, (event->>'workspace_id')::uuid, event->>'operation', event->>'outcome',
        event->>'object_kind', event->>'object_id', event->'actor'->>'id', line, head.hash);
    END LOOP;
    UPDATE audit_heads SET n = head.n, hash = head.hash WHERE organization_id = org;
  END $$;
`

const VAULTS = `
  -- The workspace's own is made with its first secret, an intern's with the intern, an attachable one by the operator.
  CREATE TABLE vaults (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    kind text NOT NULL CHECK (kind IN ('workspace', 'intern', 'attachable')),
    name text,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    FOREIGN KEY (organization_id, workspace_id) REFERENCES workspaces (organization_id, id),
    CHECK ((kind = 'attachable') = (name IS NOT NULL))
  );
  CREATE UNIQUE INDEX vaults_workspace_key ON vaults (workspace_id) WHERE kind = 'workspace';
  CREATE UNIQUE INDEX vaults_name_key ON vaults (workspace_id, name) WHERE kind = 'attachable';

  -- Wrapped by the root key that is named. The fingerprint key lives as long as the vault; sealing keys are replaced.
  CREATE TABLE vault_keys (
    id uuid PRIMARY KEY,
    vault_id uuid NOT NULL REFERENCES vaults ON DELETE CASCADE,
    purpose text NOT NULL CHECK (purpose IN ('fingerprint', 'sealing')),
    root_key_id text NOT NULL,
    wrapped bytea NOT NULL,
    is_current boolean NOT NULL DEFAULT true,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
  );
  CREATE UNIQUE INDEX vault_keys_current_key ON vault_keys (vault_id, purpose) WHERE is_current;
  CREATE INDEX vault_keys_root ON vault_keys (root_key_id);
`

const INTERNS = `
  -- A deleted intern's row goes with its vault; the audit log says that there was one.
  CREATE TABLE interns (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    -- Its own vault.
    vault_id uuid NOT NULL UNIQUE REFERENCES vaults,
    -- No reference: a vault that is gone must be seen to be gone.
    attached_vault_id uuid,
    name text NOT NULL,
    status text NOT NULL DEFAULT 'stopped',
    description text,
    instructions text,
    wants_provision boolean NOT NULL DEFAULT false,
    is_in_transfer boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    FOREIGN KEY (organization_id, workspace_id) REFERENCES workspaces (organization_id, id)
  );
  CREATE INDEX interns_listed ON interns (workspace_id, id);
  CREATE INDEX interns_attached ON interns (attached_vault_id) WHERE attached_vault_id IS NOT NULL;
  CREATE INDEX api_keys_intern ON api_keys (intern_id) WHERE intern_id IS NOT NULL;
`

const SECRETS = `
  -- A version never repeats for a name, also after a delete.
  CREATE SEQUENCE secret_versions AS bigint;

  -- Legacy rows have neither hosts nor fingerprint, and are never released.
  CREATE TABLE secrets (
    vault_id uuid NOT NULL REFERENCES vaults ON DELETE CASCADE,
    name text COLLATE "C" NOT NULL,
    hosts text[],
    fingerprint text CHECK (fingerprint ~ '^sha256:[0-9a-f]{64}$'),
    version bigint NOT NULL,
    key_id uuid NOT NULL REFERENCES vault_keys,
    sealed bytea NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (vault_id, name)
  );
  CREATE INDEX secrets_key ON secrets (key_id);
`
