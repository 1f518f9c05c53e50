import type { Migration } from '../migrate.ts'

export const directory: Migration = {
  number: 10,
  name: 'directory',
  oldestBinary: 7,
  tables: ['scim_groups', 'scim_members', 'scim_mappings', 'scim_tokens', 'scim_sync_jobs'],
  async up(tx) {
    for (const statements of [USERS, GROUPS, MAPPINGS, TOKENS, SYNC_JOBS]) await tx.unsafe(statements)
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
  CREATE INDEX member_grants_mapping ON member_grants (mapping_id) WHERE mapping_id IS NOT NULL;
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
    status text NOT NULL DEFAULT 'queued' CHECK (status IN ('queued', 'running', 'succeeded', 'failed')),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    started_at timestamptz,
    finished_at timestamptz,
    synced_groups integer,
    deleted_groups integer,
    error_message text,
    -- Of the runner that works on it; a later token has taken it over.
    lease_token bigint NOT NULL DEFAULT 0,
    lease_until timestamptz,
    -- Of the group that was computed last: whoever takes over goes on behind it.
    done_group uuid
  );
  CREATE UNIQUE INDEX scim_sync_jobs_queued_key ON scim_sync_jobs (organization_id) WHERE status = 'queued';
  CREATE INDEX scim_sync_jobs_open ON scim_sync_jobs (created_at) WHERE status IN ('queued', 'running');
`
