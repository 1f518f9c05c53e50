import type { Migration } from './migration.ts'

export const keyBursts: Migration = {
  number: 29,
  name: 'key-bursts',
  oldestBinary: 7,
  tables: [],
  async up(tx) {
    await tx.unsafe(COLUMNS)
  },
}

const COLUMNS = `
  -- Requests at once; null: the default. Not compared with rate_limit_rpm here: a node of an older version lowers the limit
  -- without it, and rotates a key without it.
  ALTER TABLE api_keys ADD COLUMN rate_limit_burst integer CHECK (rate_limit_burst > 0);
`
