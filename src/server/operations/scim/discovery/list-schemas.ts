import { CONTROL_DEADLINE_MS } from '../../../../schemas/limits/limits.ts'
import { DiscoveryQuery, SchemasBody } from '../../../../schemas/scim/scim-discovery.ts'
import { SCIM_SCHEMAS } from '../../../../schemas/scim/scim-schemas.ts'
import { defineOperation } from '../../define.ts'
import { DISCOVERY_STATUSES, filterRefusal, listAnswer, schemaAnswer } from './discovery-answers.ts'

/** Lists the attributes of users and groups. Source: RFC 7643 §7, RFC 7644 §4. */
export const listSchemas = defineOperation({
  id: 'scim.list_schemas',
  method: 'get',
  path: '/Schemas',
  area: 'scim',
  tag: 'scim',
  summary: 'List schemas',
  access: { keys: ['scim'] },
  deadlineMs: CONTROL_DEADLINE_MS,
  outlivesClient: false,
  input: { query: DiscoveryQuery },
  success: { status: 200, body: SchemasBody, isList: true },
  statuses: DISCOVERY_STATUSES,
  failures: ['scim_filter_refused'],
  example: {},
  run({ query }, { publicOrigin }) {
    return (
      filterRefusal(query) ?? listAnswer(SCIM_SCHEMAS.map((schema) => schemaAnswer(schema, publicOrigin)))
    )
  },
})
