import { keyAccount } from '../../../src/schemas/money/accounts.ts'
import type { Store } from '../../../src/server/store/base/open.ts'

/**
 * What a key has spent by its own key and by credentials of its workspace's own, whole nano-USD in every
 * window, as of a day.
 */
export interface PlantedUsage {
  readonly spent?: number
  readonly byok?: number
  /** `YYYY-MM-DD`; left out: today. */
  readonly day?: string
}

/** Writes what a key spent into the account that is born with it. */
export async function plantUsage(
  store: Store,
  hash: string,
  { spent = 0, byok = 0, day }: PlantedUsage,
): Promise<void> {
  const { sql } = store
  await sql`
    UPDATE accounts SET day = ${day === undefined ? sql`utc_today()` : sql`${day}::date`},
      daily_spent_nano = ${spent}, weekly_spent_nano = ${spent}, monthly_spent_nano = ${spent}, lifetime_spent_nano = ${spent},
      daily_byok_nano = ${byok}, weekly_byok_nano = ${byok}, monthly_byok_nano = ${byok}, lifetime_byok_nano = ${byok}
    WHERE id = ${keyAccount(hash)}`
}

/** Turns the page of the calendar, for this database alone. @param day `YYYY-MM-DD` */
export async function turnTo(store: Store, day: string): Promise<void> {
  await store.sql.unsafe(
    `CREATE OR REPLACE FUNCTION utc_today() RETURNS date LANGUAGE sql VOLATILE AS $$ SELECT '${day}'::date $$`,
  )
}
