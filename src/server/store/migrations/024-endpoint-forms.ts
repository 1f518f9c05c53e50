import type { Migration } from './migration.ts'

export const endpointForms: Migration = {
  number: 24,
  name: 'endpoint-forms',
  oldestBinary: 7,
  tables: [],
  async up(tx) {
    await tx.unsafe(COLUMNS)
  },
}

const COLUMNS = `
  -- The forms that an endpoint has to serve; null: those that a validation finds.
  ALTER TABLE private_endpoints ADD COLUMN forms jsonb;
  -- The forms that the last passing validation found; null: that of a version which probed embeddings alone.
  ALTER TABLE private_endpoints ADD COLUMN speaks jsonb;
`
