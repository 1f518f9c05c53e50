import { fail, ok } from '../../../../schemas/failures.ts'
import { CONTROL_DEADLINE_MS } from '../../../../schemas/limits/limits.ts'
import { USER_SCHEMA } from '../../../../schemas/scim/scim-attributes.ts'
import { DiscoveryParams, SchemaBody } from '../../../../schemas/scim/scim-discovery.ts'
import { SCIM_SCHEMAS } from '../../../../schemas/scim/scim-schemas.ts'
import { defineOperation } from '../../define.ts'
import { DISCOVERY_STATUSES, schemaAnswer } from './discovery-answers.ts'

/** Reads one schema by its URN. Source: RFC 7643 §7, RFC 7644 §4. */
export const getSchema = defineOperation({
  id: 'scim.get_schema',
  method: 'get',
  path: '/Schemas/{id}',
  area: 'scim',
  tag: 'scim',
  summary: 'Get a schema',
  access: { keys: ['scim'] },
  deadlineMs: CONTROL_DEADLINE_MS,
  outlivesClient: false,
  input: { params: DiscoveryParams },
  success: { status: 200, body: SchemaBody },
  statuses: [...DISCOVERY_STATUSES, 404],
  failures: ['scim_resource_unknown'],
  example: { params: { id: USER_SCHEMA } },
  run({ params }, { publicOrigin }) {
    // URNs are compared without case: RFC 8141 §3.1 for their prefix, and Sluice's own rule for the rest.
    const schema = SCIM_SCHEMAS.find(({ id }) => id.toLowerCase() === params.id.toLowerCase())
    return schema === undefined
      ? fail('scim_resource_unknown')
      : ok({ kind: 'json', value: schemaAnswer(schema, publicOrigin) })
  },
})
