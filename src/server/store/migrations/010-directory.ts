import type { Migration } from './migration.ts'

export const directory: Migration = {
  number: 10,
  name: 'directory',
  oldestBinary: 7,
  tables: ['scim_groups', 'scim_members', 'scim_mappings', 'scim_tokens', 'scim_sync_jobs'],
  async up(tx) {
    for (const statements of [USERS, GROUPS, MAPPINGS, TOKENS, SYNC_JOBS, AUDIT]) await tx.unsafe(statements)
  },
}

const USERS = `
  ALTER TABLE users
    ADD COLUMN external_id text COLLATE "C",
    -- What else an identity provider sent, as it is shown again.
    ADD COLUMN attributes jsonb NOT NULL DEFAULT '{}',
    ADD COLUMN version bigint NOT NULL DEFAULT 1;
  CREATE INDEX users_external ON users (organization_id, external_id) WHERE external_id IS NOT NULL;
`

const GROUPS = `
  -- One that was deleted stays without members and mappings until a sync has counted it.
  CREATE TABLE scim_groups (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations,
    display_name text NOT NULL,
    external_id text COLLATE "C",
    version bigint NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    deleted_at timestamptz
  );
  CREATE UNIQUE INDEX scim_groups_name_key ON scim_groups (organization_id, lower(display_name)) WHERE deleted_at IS NULL;
  CREATE INDEX scim_groups_external ON scim_groups (organization_id, external_id) WHERE external_id IS NOT NULL AND deleted_at IS NULL;
  CREATE INDEX scim_groups_deleted ON scim_groups (organization_id) WHERE deleted_at IS NOT NULL;

  CREATE TABLE scim_members (
    group_id uuid NOT NULL REFERENCES scim_groups ON DELETE CASCADE,
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    PRIMARY KEY (group_id, user_id)
  );
  CREATE INDEX scim_members_user ON scim_members (user_id);
`

const MAPPINGS = `
  CREATE TABLE scim_mappings (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    group_id uuid NOT NULL REFERENCES scim_groups,
    workspace_id uuid NOT NULL,
    role text NOT NULL CHECK (role IN ('admin', 'member')),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    FOREIGN KEY (organization_id, workspace_id) REFERENCES workspaces (organization_id, id)
  );
  CREATE UNIQUE INDEX scim_mappings_pair_key ON scim_mappings (group_id, workspace_id);
  CREATE INDEX scim_mappings_organization ON scim_mappings (organization_id, id);
  CREATE INDEX scim_mappings_workspace ON scim_mappings (workspace_id);
  -- Nothing but a mapping grants for one: no grant outlives its reason.
  ALTER TABLE member_grants ADD FOREIGN KEY (mapping_id) REFERENCES scim_mappings;
  CREATE INDEX member_grants_mapping ON member_grants (mapping_id, user_id) WHERE mapping_id IS NOT NULL;
`

const TOKENS = `
  -- Bearer tokens of identity providers: hashes alone, as of API keys.
  CREATE TABLE scim_tokens (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations,
    hash text COLLATE "C" NOT NULL UNIQUE,
    name text NOT NULL,
    label text NOT NULL,
    created_by text,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at timestamptz,
    revoked_at timestamptz
  );
  CREATE INDEX scim_tokens_organization ON scim_tokens (organization_id, id);
`

const SYNC_JOBS = `
  CREATE TABLE scim_sync_jobs (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations,
    state text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'running', 'succeeded', 'failed')),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    started_at timestamptz,
    finished_at timestamptz,
    synced_groups integer,
    deleted_groups integer,
    error_message text,
    -- The fencing token: a runner with a later one has taken it over.
    attempt integer NOT NULL DEFAULT 0,
    lease_until timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- Of the group that was computed last: whoever takes over goes on behind it.
    done_group uuid
  );
  CREATE UNIQUE INDEX scim_sync_jobs_queued_key ON scim_sync_jobs (organization_id) WHERE state = 'queued';
  CREATE INDEX scim_sync_jobs_open ON scim_sync_jobs (lease_until) WHERE state IN ('queued', 'running');
`

const AUDIT = `
  -- Each way to search the log has an index in its order: a page is found however many rows there are.
  DROP INDEX audit_object;
  CREATE INDEX audit_object ON audit (organization_id, object_id, n);
  CREATE INDEX audit_kind ON audit (organization_id, object_kind, n);
  CREATE INDEX audit_operation ON audit (organization_id, operation, n);
  CREATE INDEX audit_actor ON audit (organization_id, actor_id, n) WHERE actor_id IS NOT NULL;
  CREATE INDEX audit_workspace ON audit (organization_id, workspace_id, n) WHERE workspace_id IS NOT NULL;
  -- Releases are most rows of most logs: whoever looks for them needs no index.
  CREATE INDEX audit_outcome ON audit (organization_id, outcome, n) WHERE outcome <> 'released';

  -- The log's time never goes back, though the clock does: so an instant is found by halving, as a number.
  ALTER TABLE audit_heads ADD COLUMN at timestamptz NOT NULL DEFAULT '-infinity';
  UPDATE audit_heads h SET at = COALESCE((SELECT max(at) FROM audit a WHERE a.organization_id = h.organization_id), h.at);

  CREATE OR REPLACE FUNCTION audit_append(org uuid, events jsonb) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    head audit_heads;
    event jsonb;
    line text;
  BEGIN
    INSERT INTO audit_heads (organization_id) VALUES (org) ON CONFLICT DO NOTHING;
    SELECT * INTO head FROM audit_heads WHERE organization_id = org FOR UPDATE;
    FOR event IN SELECT * FROM jsonb_array_elements(events) LOOP
      head.at := greatest(clock_timestamp(), head.at);
      head.n := head.n + 1;
      line := jsonb_build_object('n', head.n, 'at', to_char(head.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
        'organization_id', org) || event;
      head.hash := sha256(head.hash || convert_to(line, 'UTF8'));
      INSERT INTO audit (organization_id, n, at, workspace_id, operation, outcome, object_kind, object_id, actor_id, text, hash)
      VALUES (org, head.n, head.at, (event->>'workspace_id')::uuid, event->>'operation', event->>'outcome',
        event->>'object_kind', event->>'object_id', event->'actor'->>'id', line, head.hash);
    END LOOP;
    UPDATE audit_heads SET n = head.n, hash = head.hash, at = head.at WHERE organization_id = org;
  END $$;

  -- Number of the first row of that instant or later; the next number where there is none.
  CREATE FUNCTION audit_n_from(org uuid, moment timestamptz) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
  DECLARE
    low bigint := 1;
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
