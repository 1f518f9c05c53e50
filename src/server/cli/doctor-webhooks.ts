import type { Store } from '../store/open.ts'
import { countDeliveries } from '../store/webhooks/deliveries.ts'
import type { Finding } from './doctor-checks.ts'

/** Webhooks that were given up. */
export async function webhooks(store: Store, msMax: number): Promise<Finding> {
  const { waiting, dead } = await store.within(msMax, (sql) => countDeliveries(sql))
  if (dead === 0) return { check: 'webhooks', level: 'ok', detail: `${waiting} wait for an attempt, no dead letters` }
  return {
    check: 'webhooks', level: 'warning', detail: `${dead} dead ${dead === 1 ? 'letter' : 'letters'}, ${waiting} wait for an attempt`,
    fix: 'look at `sluice webhooks list --state dead`, then `sluice webhooks replay`',
  }
}
