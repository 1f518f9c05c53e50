import type { Queryable } from '../../store/open.ts'
import { countDeliveries } from '../../store/webhooks/deliveries.ts'
import { doubtful, good, type Finding } from './finding.ts'

/** Webhooks that were given up. */
export async function webhooks(sql: Queryable): Promise<Finding> {
  const { waiting, dead } = await countDeliveries(sql)
  if (dead === 0) return good('webhooks', `${waiting} wait for an attempt, no dead letters`)
  const detail = `${dead} dead ${dead === 1 ? 'letter' : 'letters'}, ${waiting} wait for an attempt`
  return doubtful('webhooks', detail, 'look at `sluice webhooks list --state dead`, then `sluice webhooks replay`')
}
