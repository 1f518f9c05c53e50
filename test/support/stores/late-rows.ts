import type { Store } from '../../../src/server/store/base/open.ts'

/** From now on each new row of a table takes so many seconds. */
export async function lateRows(
  { sql }: Pick<Store, 'sql'>,
  table: 'fronts' | 'journals',
  seconds: number,
): Promise<void> {
  await sql.unsafe(`CREATE FUNCTION late_${table}() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN PERFORM pg_sleep(${seconds}); RETURN NEW; END'; CREATE TRIGGER late BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION late_${table}()`)
}
