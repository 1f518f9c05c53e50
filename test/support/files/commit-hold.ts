/** Holds what was published before its row says so, by a trigger of the test's own in the node's database. */
import type { FileStand } from './file-stand.ts'

/** Of the advisory lock that the trigger waits for. */
const LOCK = 7_103_991

const HELD = {
  /** Between its published object and its ready row. */
  files: "OLD.state = 'pending' AND NEW.state = 'ready'",
  /** Between the published file and the end of the claim of its path. */
  container_files: 'OLD.writing_until IS NOT NULL AND NEW.writing_until IS NULL',
}

/** @returns what lets them go on */
export async function holdCommits(
  { store }: FileStand,
  table: keyof typeof HELD = 'files',
): Promise<() => Promise<void>> {
  await store.sql.unsafe(`
    CREATE OR REPLACE FUNCTION prove_hold() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_advisory_xact_lock(${LOCK}); RETURN NEW; END $$;
    CREATE OR REPLACE TRIGGER prove_hold BEFORE UPDATE ON ${table}
      FOR EACH ROW WHEN (${HELD[table]}) EXECUTE FUNCTION prove_hold();`)
  const connection = await store.sql.reserve()
  await connection`SELECT pg_advisory_lock(${LOCK})`
  return async () => {
    await connection`SELECT pg_advisory_unlock(${LOCK})`
    connection.release()
    await store.sql.unsafe(`DROP TRIGGER prove_hold ON ${table}`)
  }
}
