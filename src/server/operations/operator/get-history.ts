import { fail, ok } from '../../../schemas/failures.ts'
import { GetHistoryQuery, HistoryAnswer } from '../../../schemas/operator/history.ts'
import { historyInput } from '../../../schemas/operator/history-range.ts'
import { defineOperation } from '../define.ts'

/** Reads the node's history as time series. Source: an extension of Sluice; C4. */
export const getAdminHistory = defineOperation({
  id: 'admin.get_history',
  method: 'get',
  path: '/admin/history',
  tag: 'admin',
  summary: 'Get requests, errors and latencies over time',
  description:
    "For management keys of the operator's organization only. Data per second (one hour) and per minute (one day) covers " +
    'only the responding node; data per hour (one month) covers all nodes. Quantiles come from merged histograms.',
  input: { query: GetHistoryQuery },
  success: { status: 200, body: HistoryAnswer },
  statuses: [400, 403, 500],
  failures: ['query_invalid', 'operator_only', 'busy', 'store_unavailable'],
  example: { query: { metric: 'latency', by: 'all', grain: 'minute' } },
  async run({ key, query }, { admin, history }) {
    const session = await admin.session(key.organizationId)
    if (!session.ok) return session
    const input = historyInput(query, Date.now())
    if ('path' in input) return fail('query_invalid', { metadata: { issues: [input] } })
    const read = await history.read(input)
    return read.ok ? ok({ kind: 'json', value: { data: read.value } }) : read
  },
})
