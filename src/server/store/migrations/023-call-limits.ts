import type { Migration } from './migration.ts'

export const callLimits: Migration = {
  number: 23,
  name: 'call-limits',
  oldestBinary: 7,
  tables: [],
  async up(tx) {
    await tx.unsafe(COLUMNS)
  },
}

const COLUMNS = `
  -- Those that were ever set, by their names on the wire. A node of an older version ignores them, and rotates a key without
  -- them: they may be set once every node has this version.
  ALTER TABLE api_keys ADD COLUMN call_limits jsonb NOT NULL DEFAULT '{}';
  ALTER TABLE workspaces ADD COLUMN call_limits jsonb NOT NULL DEFAULT '{}';
`
