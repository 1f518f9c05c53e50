import type { Migration } from './migration.ts'

export const containerFiles: Migration = {
  number: 5,
  name: 'container_files',
  oldestBinary: 1,
  tables: ['container_files'],
  async up(tx) {
    await tx.unsafe(STATEMENTS)
  },
}

const STATEMENTS = `
  -- While a removal has the row no write begins in its container.
  ALTER TABLE container_uses ADD COLUMN removal_id uuid, ADD COLUMN removing_until timestamptz;

  -- What the quota counts for each container file that was put through Sluice. While a write has the row it counts the
  -- larger of the old and the new file, so that whatever a crash leaves is counted.
  CREATE TABLE container_files (
    workspace_id uuid NOT NULL REFERENCES workspaces,
    container_id text COLLATE "C" NOT NULL,
    path text COLLATE "C" NOT NULL,
    size_bytes bigint NOT NULL CHECK (size_bytes >= 0),
    claim_id uuid NOT NULL,
    writing_until timestamptz,
    counted_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (workspace_id, container_id, path)
  );
  CREATE INDEX container_files_writing ON container_files (writing_until) WHERE writing_until IS NOT NULL;
`
