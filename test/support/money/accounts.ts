import type { Store } from '../../../src/server/store/base/open.ts'

/** Makes a day the calendar's, for every reader of this store. */
export async function turnTo(store: Store, day: string): Promise<void> {
  await store.sql.unsafe(
    `CREATE OR REPLACE FUNCTION utc_today() RETURNS date LANGUAGE sql VOLATILE AS $$ SELECT '${day}'::date $$`,
  )
}

/** Sets columns of an account, as the authority and flushes would. */
export async function setAccount(store: Store, id: string, columns: object): Promise<void> {
  await store.sql`UPDATE accounts SET ${store.sql(columns)} WHERE id = ${id}`
}
