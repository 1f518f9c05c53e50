import type { ActivityRow as ActivityWire } from '../../../schemas/money/activity.ts'
import type { ActivitySums } from '../../ports/money/activity.ts'
import { usdOfNano } from '../../../schemas/money/costs.ts'

type SumsWire = Omit<ActivityWire, 'date' | 'workspace_id' | 'key_hash' | 'model'>

/** Sums of calls, for rows of activity and reports of the command line. An extension of Sluice; C4. */
export function activitySums(sums: ActivitySums): SumsWire {
  return {
    requests: Number(sums.requests),
    tokens: Number(sums.tokens),
    output_tokens: Number(sums.outputTokens),
    cached_tokens: Number(sums.cachedTokens),
    milliseconds: Number(sums.milliseconds),
    usage: usdOfNano(sums.spentNano),
    byok_usage: usdOfNano(sums.byokNano),
    forfeited: usdOfNano(sums.forfeitedNano),
  }
}
