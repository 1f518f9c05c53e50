import type { Migration } from './migration.ts'

export const presets: Migration = {
  number: 9,
  name: 'presets',
  oldestBinary: 7,
  tables: ['presets', 'preset_versions'],
  async up(tx) {
    for (const statements of [PRESETS, VERSIONS]) await tx.unsafe(statements)
  },
}

const PRESETS = `
  -- The lock on a preset's row gives its versions their numbers.
  CREATE TABLE presets (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    slug text COLLATE "C" NOT NULL,
    name text NOT NULL,
    description text,
    status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'archived')),
    status_updated_at timestamptz,
    latest_version integer NOT NULL DEFAULT 0,
    designated_version integer NOT NULL DEFAULT 0,
    creator_id text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    FOREIGN KEY (organization_id, workspace_id) REFERENCES workspaces (organization_id, id),
    CHECK (designated_version BETWEEN 0 AND latest_version)
  );
  CREATE UNIQUE INDEX presets_slug_key ON presets (workspace_id, slug);
`

const VERSIONS = `
  -- Callers' texts are JSON in text columns: jsonb refuses NUL, and would not keep the order of members.
  CREATE TABLE preset_versions (
    id uuid PRIMARY KEY,
    preset_id uuid NOT NULL REFERENCES presets ON DELETE CASCADE,
    version integer NOT NULL CHECK (version > 0),
    config text NOT NULL,
    -- JSON too: a string or null.
    system_prompt text NOT NULL,
    source text NOT NULL CHECK (source IN ('responses', 'chat', 'messages')),
    ignored text NOT NULL,
    creator_id text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp()
  );
  CREATE UNIQUE INDEX preset_versions_key ON preset_versions (preset_id, version);
`
