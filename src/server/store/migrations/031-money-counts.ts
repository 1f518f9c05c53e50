import type { Migration } from './migration.ts'

export const moneyCounts: Migration = {
  number: 31,
  name: 'money-counts',
  oldestBinary: 7,
  tables: ['money_counts'],
  async up(tx) {
    await tx.unsafe(TABLE)
  },
}

const TABLE = `
  -- A number for each node, raised with its money and repeated in its data directory: a Postgres that is older
  -- than the directory, as one restored from a snapshot, has a lower one.
  CREATE TABLE money_counts (
    node text PRIMARY KEY,
    n bigint NOT NULL DEFAULT 0,
    -- The number of the data directory, where that is higher; null: it never was.
    wanted bigint
  );
`
