import { AuditAnswer, faultsOfInstants, ListAuditQuery } from '../../../schemas/audit/audit.ts'
import { fail, ok } from '../../../schemas/failures.ts'
import { AUDIT_PAGE_DEFAULT } from '../../../schemas/audit/audit-limits.ts'
import type { AuditPage, AuditQuery, AuditRow } from '../../ports/audit/audit.ts'
import { defineOperation, type Success } from '../define.ts'

/** Lists changes, grants and refusals with their actors, newest first. Source: an extension of Sluice; C4. */
export const listAudit = defineOperation({
  id: 'audit.list',
  method: 'get',
  path: '/audit',
  tag: 'audit',
  summary: 'List audit events',
  description:
    'Each change is one event, written in the same transaction as the change. Refused changes and reads are not recorded, ' +
    "except operators' reads of clips.",
  input: { query: ListAuditQuery },
  success: { status: 200, body: AuditAnswer, isList: true },
  statuses: [400, 403, 404, 500],
  failures: ['query_invalid', 'workspace_unknown', 'store_unavailable'],
  example: { query: { operation: 'keys.create', limit: 20 } },
  async run(call, ports) {
    const faults = faultsOfInstants(call.query)
    if (faults.length > 0)
      return fail('query_invalid', {
        metadata: { issues: faults.map((fault) => ({ ...fault, message: 'is not a date and time' })) },
      })
    const page = await ports.auditLog.find(auditQueryOf(call.key.organizationId, call.query))
    return page.ok ? ok(answerOf(page.value)) : page
  },
})

export function auditQueryOf(organizationId: string, request: ListAuditQuery): AuditQuery {
  const {
    workspace_id: workspace,
    object_kind: objectKind,
    object_id: objectId,
    actor_id: actorId,
    limit = AUDIT_PAGE_DEFAULT,
    ...rest
  } = request
  return {
    organizationId,
    limit,
    ...rest,
    ...(workspace !== undefined && { workspace }),
    ...(objectKind !== undefined && { objectKind }),
    ...(objectId !== undefined && { objectId }),
    ...(actorId !== undefined && { actorId }),
  }
}

/** Joins the events, which are already JSON, instead of parsing and serializing them again. */
function answerOf({ rows, nextBefore }: AuditPage): Success {
  const json = `{"data":[${rows.map(auditEventText).join(',')}],"has_more":${nextBefore !== null},"next_before":${nextBefore}}`
  return { kind: 'bytes', parts: [Buffer.from(json)], contentType: 'application/json' }
}

/** JSON of an audit event: the text of its row, as it was hashed, and the hash. */
export function auditEventText({ text, hash }: Pick<AuditRow, 'text' | 'hash'>): string {
  return `${text.slice(0, text.lastIndexOf('}'))}, "hash": "${hash}"}`
}
