import type { Migration } from './migration.ts'

export const containerBytes: Migration = {
  number: 13,
  name: 'container_bytes',
  oldestBinary: 7,
  tables: [],
  async up(tx) {
    await tx.unsafe(STATEMENTS)
  },
}

const STATEMENTS = `
  -- Of the used bytes those of container files, of which a workspace may have millions. A trigger keeps them, since a node
  -- of an older version does not know them. Rows are made with 0 bytes, and filled later: only what a backup brings back
  -- comes whole, with a sum that has counted it.
  LOCK TABLE container_files IN SHARE ROW EXCLUSIVE MODE;
  ALTER TABLE workspace_storage ADD COLUMN container_bytes bigint NOT NULL DEFAULT 0;
  UPDATE workspace_storage s SET container_bytes = c.bytes
  FROM (SELECT workspace_id, sum(size_bytes) AS bytes FROM container_files GROUP BY workspace_id) c WHERE c.workspace_id = s.workspace_id;

  CREATE FUNCTION container_bytes_changed() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    UPDATE workspace_storage SET container_bytes = container_bytes - OLD.size_bytes + (CASE WHEN TG_OP = 'UPDATE' THEN NEW.size_bytes ELSE 0 END)
    WHERE workspace_id = OLD.workspace_id;
    RETURN NULL;
  END $$;
  CREATE TRIGGER container_files_filled AFTER UPDATE OF size_bytes ON container_files
    FOR EACH ROW WHEN (OLD.size_bytes <> NEW.size_bytes) EXECUTE FUNCTION container_bytes_changed();
  CREATE TRIGGER container_files_emptied AFTER DELETE ON container_files
    FOR EACH ROW WHEN (OLD.size_bytes > 0) EXECUTE FUNCTION container_bytes_changed();
`
