import type { Migration } from './migration.ts'

export const containerFronts: Migration = {
  number: 19,
  name: 'container_fronts',
  oldestBinary: 7,
  tables: [],
  async up(tx) {
    // Of the last write that claimed the path. Null as of uploads: such a claim waits for its end.
    await tx.unsafe('ALTER TABLE container_files ADD COLUMN front_id uuid')
  },
}
