import type { Migration } from './migration.ts'

export const privateEndpoints: Migration = {
  number: 6,
  name: 'private-endpoints',
  oldestBinary: 1,
  tables: ['private_endpoints'],
  async up(tx) {
    await tx.unsafe(ENDPOINTS)
  },
}

const ENDPOINTS = `
  CREATE TABLE private_endpoints (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations,
    -- That of the last passing validation.
    workspace_id uuid,
    status text NOT NULL DEFAULT 'draft' CHECK (status IN ('draft', 'active', 'disabled')),
    model_permaslug text NOT NULL,
    provider_slug text NOT NULL,
    upstream_model_id text NOT NULL,
    base_url text NOT NULL,
    declared_region text CHECK (declared_region IN ('global', 'europe', 'us')),
    declared_zdr boolean,
    prompt_price text CHECK (prompt_price ~ '^[0-9]+(\\.[0-9]+)?$'),
    completion_price text CHECK (completion_price ~ '^[0-9]+(\\.[0-9]+)?$'),
    -- No reference: a secret that is gone must be seen to be gone.
    secret_name text,
    -- Counts every change, and those of them that end a validation.
    revision integer NOT NULL DEFAULT 1,
    config_revision integer NOT NULL DEFAULT 1,
    -- The last validation, whatever it found: {passed, checks, workspace_id}.
    validation jsonb,
    validated_at timestamptz,
    validated_config integer,
    -- Whose probe runs, until when at most.
    probe_token uuid,
    probe_until timestamptz,
    is_ever_activated boolean NOT NULL DEFAULT false,
    idempotency_id text,
    fields_digest text,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- A row that a repeated create may still ask for stays for that long.
    deleted_at timestamptz,
    FOREIGN KEY (organization_id, workspace_id) REFERENCES workspaces (organization_id, id),
    CHECK ((prompt_price IS NULL) = (completion_price IS NULL)),
    CHECK ((idempotency_id IS NULL) = (fields_digest IS NULL)),
    CHECK (status = 'draft' OR workspace_id IS NOT NULL),
    CONSTRAINT private_endpoints_idempotency_key UNIQUE (idempotency_id)
  );
  CREATE INDEX private_endpoints_listed ON private_endpoints (organization_id, id) WHERE deleted_at IS NULL;
  CREATE INDEX private_endpoints_active ON private_endpoints (workspace_id, id) WHERE status = 'active' AND deleted_at IS NULL;
`
