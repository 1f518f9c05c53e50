import type { Migration } from './migration.ts'

export const caps: Migration = {
  number: 16,
  name: 'caps',
  oldestBinary: 7,
  tables: [],
  async up(tx) {
    await tx.unsafe(STATEMENTS)
  },
}

const STATEMENTS = `
  -- Those of its own; what is not there is the installation's.
  ALTER TABLE organizations ADD COLUMN caps jsonb NOT NULL DEFAULT '{}';
  -- What is counted under the organization's lock is counted in an index alone.
  CREATE INDEX api_keys_live ON api_keys (organization_id, expires_at) WHERE revoked_at IS NULL;
  CREATE INDEX interns_organization ON interns (organization_id);
  CREATE INDEX vaults_attachable ON vaults (organization_id) WHERE kind = 'attachable';
`
