import type { Migration } from './migration.ts'

export const fileExpiry: Migration = {
  number: 17,
  name: 'file_expiry',
  oldestBinary: 7,
  tables: [],
  async up(tx) {
    // Null: the file does not expire. The index serves the sweep, which looks only for due files.
    await tx.unsafe(`
      ALTER TABLE files ADD COLUMN expires_at timestamptz;
      CREATE INDEX files_expiring ON files (expires_at) WHERE state = 'ready' AND expires_at IS NOT NULL;
    `)
  },
}
