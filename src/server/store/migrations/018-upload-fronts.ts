import type { Migration } from './migration.ts'

export const uploadFronts: Migration = {
  number: 18,
  name: 'upload_fronts',
  oldestBinary: 7,
  tables: [],
  async up(tx) {
    // Null for an upload without a front, and for nodes of an older version: such an upload ends with its
    // lease.
    await tx.unsafe('ALTER TABLE files ADD COLUMN front_id uuid')
  },
}
