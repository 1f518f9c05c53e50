import type { Migration } from './migration.ts'

export const failureReasons: Migration = {
  number: 32,
  name: 'failure-reasons',
  oldestBinary: 7,
  tables: [],
  async up(tx) {
    await tx.unsafe(COLUMN)
  },
}

const COLUMN = `
  -- Why a call failed, beyond the name of its failure; null: nothing more is known, as of rows that a node of an older
  -- version writes.
  ALTER TABLE requests ADD COLUMN reason jsonb;
`
