import {
  ActivityAnswer,
  faultOfDays,
  ListActivityQuery,
  type ActivityRow as ActivityWire,
} from '../../../schemas/money/activity.ts'
import { fail, ok } from '../../../schemas/failures.ts'
import { ACTIVITY_PAGE_DEFAULT } from '../../../schemas/money/money-limits.ts'
import type { ActivityRow, ActivitySums } from '../../ports/money/activity.ts'
import { defineOperation } from '../define.ts'
import { usdOfNano } from '../../../schemas/money/costs.ts'

/** Lists the spend by day, key, workspace and model, newest first. Source: an extension of Sluice; C4. */
export const listActivity = defineOperation({
  id: 'activity.list',
  method: 'get',
  path: '/activity',
  tag: 'activity',
  summary: 'List spending',
  description:
    'One row for each day, workspace, key and model with calls. Days are the UTC days of the charged budget windows. ' +
    "Rows are grouped by key; OpenRouter's rows are grouped by provider, endpoint or token type.",
  input: { query: ListActivityQuery },
  success: { status: 200, body: ActivityAnswer, isList: true },
  statuses: [400, 403, 404, 500],
  failures: ['query_invalid', 'workspace_unknown', 'store_unavailable'],
  example: { query: { from: '2026-01-01', to: '2026-01-31', limit: 50 } },
  async run(call, ports) {
    const {
      workspace_id: workspace,
      key_hash: keyHash,
      limit = ACTIVITY_PAGE_DEFAULT,
      offset = 0,
      ...rest
    } = call.query
    const fault = faultOfDays(rest)
    if (fault !== null)
      return fail('query_invalid', {
        metadata: { issues: [{ ...fault, message: 'is not a valid day' }] },
      })
    const found = await ports.activity.list({
      organizationId: call.key.organizationId,
      limit,
      offset,
      ...rest,
      ...(workspace !== undefined && { workspace }),
      ...(keyHash !== undefined && { keyHash }),
    })
    if (!found.ok) return found
    const { rows, count, from, to } = found.value
    return ok({ kind: 'json', value: { data: rows.map(wireOf), total_count: count, from, to } })
  },
})

function wireOf(row: ActivityRow): ActivityWire {
  return {
    date: row.day,
    workspace_id: row.workspaceId,
    key_hash: row.keyHash,
    model: row.model,
    ...activitySums(row),
  }
}

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
