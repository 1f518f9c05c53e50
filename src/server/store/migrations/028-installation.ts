import type { Migration } from './migration.ts'

export const installation: Migration = {
  number: 28,
  name: 'installation',
  oldestBinary: 7,
  tables: ['installation'],
  async up(tx) {
    await tx.unsafe(TABLE)
  },
}

const TABLE = `
  -- The mark that Redis and the objects' place repeat, and the kinds of places that nodes use; null: unknown.
  CREATE TABLE installation (
    is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
    mark uuid NOT NULL DEFAULT gen_random_uuid(),
    redis text CHECK (redis IN ('outside', 'embedded')),
    objects text CHECK (objects IN ('bucket', 'folder')),
    -- The last node that joined, and when; null after it left.
    node text,
    joined_at timestamptz,
    joins bigint NOT NULL DEFAULT 0
  );
  INSERT INTO installation DEFAULT VALUES;
`
