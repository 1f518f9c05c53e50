import type { Migration } from './migration.ts'

export const backedUpAt: Migration = {
  number: 30,
  name: 'backed-up-at',
  oldestBinary: 7,
  tables: [],
  async up(tx) {
    // The end of the last `sluice backup`; null: there was none.
    await tx.unsafe('ALTER TABLE installation ADD COLUMN backed_up_at timestamptz')
  },
}
