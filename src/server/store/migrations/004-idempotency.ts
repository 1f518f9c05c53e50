import type { Migration } from './migration.ts'

export const idempotency: Migration = {
  number: 4,
  name: 'idempotency',
  oldestBinary: 1,
  tables: ['idempotency'],
  async up(tx) {
    await tx.unsafe(ANSWERS)
  },
}

const ANSWERS = `
  -- A call under an Idempotency-Key, and its answer once it has one. What is at work has a lease; whoever takes a row over
  -- counts its attempt on.
  CREATE TABLE idempotency (
    id text COLLATE "C" PRIMARY KEY,
    state text NOT NULL CHECK (state IN ('running', 'answered')),
    attempt integer NOT NULL DEFAULT 1,
    lease_until timestamptz NOT NULL,
    request_digest text NOT NULL,
    body_sha256 text CHECK (body_sha256 ~ '^[0-9a-f]{64}$'),
    answer text,
    answered_at timestamptz,
    CHECK ((state = 'answered') = (body_sha256 IS NOT NULL AND answer IS NOT NULL AND answered_at IS NOT NULL)),
    CHECK (state = 'answered' OR (body_sha256 IS NULL AND answer IS NULL AND answered_at IS NULL))
  );
  CREATE INDEX idempotency_expiring ON idempotency ((COALESCE(answered_at, lease_until)));
`
