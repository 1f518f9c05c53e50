import type { Migration } from './migration.ts'

export const textTokens: Migration = {
  number: 22,
  name: 'text-tokens',
  oldestBinary: 7,
  tables: [],
  async up(tx) {
    await tx.unsafe(COLUMNS)
  },
}

const COLUMNS = `
  -- Tokens of the answer, and those of the prompt that a cache had; NULL where the model writes no text.
  ALTER TABLE ledger ADD COLUMN output_tokens bigint, ADD COLUMN cached_tokens bigint;
  ALTER TABLE activity
    ADD COLUMN output_tokens bigint NOT NULL DEFAULT 0,
    ADD COLUMN cached_tokens bigint NOT NULL DEFAULT 0;
`
