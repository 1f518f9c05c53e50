import type { Migration } from './migration.ts'

export const files: Migration = {
  number: 2,
  name: 'files',
  oldestBinary: 1,
  tables: ['workspace_storage', 'files', 'container_uses', 'data_keys'],
  async up(tx) {
    for (const statements of [STORAGE, FILES, CONTAINERS, KEYS]) await tx.unsafe(statements)
  },
}

const STORAGE = `
  -- Made at the first upload of a workspace. The row's lock puts its reservations in order.
  CREATE TABLE workspace_storage (
    workspace_id uuid PRIMARY KEY REFERENCES workspaces,
    used_bytes bigint NOT NULL DEFAULT 0 CHECK (used_bytes >= 0),
    reserved_bytes bigint NOT NULL DEFAULT 0 CHECK (reserved_bytes >= 0)
  ) WITH (fillfactor = 10);
`

const FILES = `
  -- One row is the reservation, the idempotency record and the sweep's knowledge of an upload. A deleted file that was
  -- made under an Idempotency-Key stays for a day, so that a repetition still gets its first answer.
  CREATE TABLE files (
    id text COLLATE "C" PRIMARY KEY,
    workspace_id uuid NOT NULL REFERENCES workspaces,
    state text NOT NULL CHECK (state IN ('pending', 'ready', 'abandoned', 'deleted')),
    attempt integer NOT NULL DEFAULT 1,
    lease_until timestamptz NOT NULL,
    reserved_bytes bigint NOT NULL DEFAULT 0 CHECK (reserved_bytes >= 0),
    filename text,
    mime_type text,
    size_bytes bigint CHECK (size_bytes >= 0),
    sha256 text CHECK (sha256 ~ '^[0-9a-f]{64}$'),
    data_key_id uuid,
    is_downloadable boolean,
    purpose text,
    idempotency_id text,
    request_digest text,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    ready_at timestamptz,
    CHECK (state IN ('pending', 'abandoned') OR (filename IS NOT NULL AND mime_type IS NOT NULL AND size_bytes IS NOT NULL
      AND sha256 IS NOT NULL AND data_key_id IS NOT NULL AND is_downloadable IS NOT NULL AND ready_at IS NOT NULL)),
    CHECK (state = 'pending' OR reserved_bytes = 0),
    CHECK ((idempotency_id IS NULL) = (request_digest IS NULL))
  );
  CREATE INDEX files_listed ON files (workspace_id, id) WHERE state = 'ready';
  CREATE INDEX files_listed_by_purpose ON files (workspace_id, COALESCE(purpose, 'user_data'), id) WHERE state = 'ready';
  CREATE INDEX files_due ON files (lease_until) WHERE state IN ('pending', 'abandoned');
  CREATE UNIQUE INDEX files_idempotency_key ON files (idempotency_id) WHERE idempotency_id IS NOT NULL AND state <> 'abandoned';
`

const CONTAINERS = `
  CREATE TABLE container_uses (
    workspace_id uuid NOT NULL REFERENCES workspaces,
    container_id text NOT NULL,
    used_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (workspace_id, container_id)
  );
`

const KEYS = `
  -- Wrapped by the root key that is named; replaced keys stay, since objects are sealed with them.
  CREATE TABLE data_keys (
    id uuid PRIMARY KEY,
    workspace_id uuid NOT NULL REFERENCES workspaces,
    purpose text NOT NULL CHECK (purpose IN ('files')),
    root_key_id text NOT NULL,
    wrapped bytea NOT NULL,
    is_current boolean NOT NULL DEFAULT true,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
  );
  CREATE UNIQUE INDEX data_keys_current_key ON data_keys (workspace_id, purpose) WHERE is_current;
`
