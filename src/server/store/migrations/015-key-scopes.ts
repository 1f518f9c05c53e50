import type { Migration } from './migration.ts'

export const keyScopes: Migration = {
  number: 15,
  name: 'key_scopes',
  oldestBinary: 7,
  tables: [],
  async up(tx) {
    // Null = all. A node of an older version ignores scopes, so they may be set only when every node has this
    // version.
    await tx.unsafe('ALTER TABLE api_keys ADD COLUMN scopes jsonb')
  },
}
