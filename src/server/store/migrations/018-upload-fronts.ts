import type { Migration } from './migration.ts'

export const uploadFronts: Migration = {
  number: 18,
  name: 'upload_fronts',
  oldestBinary: 7,
  tables: [],
  async up(tx) {
    // Null of what no front uploads, and of nodes of an older version: such an upload waits for the end of
    // its lease.
    await tx.unsafe('ALTER TABLE files ADD COLUMN front_id uuid')
  },
}
