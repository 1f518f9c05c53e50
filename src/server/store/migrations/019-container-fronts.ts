import type { Migration } from './migration.ts'

export const containerFronts: Migration = {
  number: 19,
  name: 'container_fronts',
  oldestBinary: 7,
  tables: [],
  async up(tx) {
    // The front of the last write that claimed the path. Null as for uploads: such a claim ends with its
    // lease.
    await tx.unsafe('ALTER TABLE container_files ADD COLUMN front_id uuid')
  },
}
