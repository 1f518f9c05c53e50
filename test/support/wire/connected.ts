import type { Store } from '../../../src/server/store/base/open.ts'
import { until } from '../nodes/node.ts'

/**
 * A store with all its connections made. The product gives a connection up after two seconds, to try again:
 * to the first query of a test, on a machine that does ten other things, that would be a failure.
 */
export async function connected(store: Store): Promise<Store> {
  await until('Postgres takes connections', async () => {
    const asked = await Promise.allSettled(
      Array.from({ length: store.options.poolMax }, () => store.sql`SELECT 1`),
    )
    return asked.every(({ status }) => status === 'fulfilled')
  })
  return store
}
