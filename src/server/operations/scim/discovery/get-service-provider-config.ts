import { ok } from '../../../../schemas/failures.ts'
import { CONTROL_DEADLINE_MS } from '../../../../schemas/limits/limits.ts'
import { DiscoveryQuery, ScimConfigBody } from '../../../../schemas/scim/scim-discovery.ts'
import { defineOperation } from '../../define.ts'
import { configAnswer, DISCOVERY_STATUSES, filterRefusal } from './discovery-answers.ts'

/** Reads which parts of SCIM are served. Source: RFC 7643 §5, RFC 7644 §4. */
export const getServiceProviderConfig = defineOperation({
  id: 'scim.get_config',
  method: 'get',
  path: '/ServiceProviderConfig',
  area: 'scim',
  tag: 'scim',
  summary: 'Get the service provider configuration',
  access: { keys: ['scim'] },
  deadlineMs: CONTROL_DEADLINE_MS,
  outlivesClient: false,
  input: { query: DiscoveryQuery },
  success: { status: 200, body: ScimConfigBody },
  statuses: DISCOVERY_STATUSES,
  failures: ['scim_filter_refused'],
  example: {},
  run({ query }, { publicOrigin }) {
    return filterRefusal(query) ?? ok({ kind: 'json', value: configAnswer(publicOrigin) })
  },
})
