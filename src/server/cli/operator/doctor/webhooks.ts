import { deadLetters } from '../../../observe/findings.ts'
import type { Queryable } from '../../../store/base/open.ts'
import { countDeliveries } from '../../../store/webhooks/deliveries.ts'
import { doubtful, good, type Finding } from './finding.ts'

/** Warns about webhooks whose delivery was given up. */
export async function webhooks(sql: Queryable): Promise<Finding> {
  const counts = await countDeliveries(sql)
  const advice = deadLetters(counts)
  return advice === null
    ? good('webhooks', `webhooks waiting for an attempt: ${counts.waiting}; none was given up`)
    : doubtful('webhooks', advice.detail, advice.fix)
}
