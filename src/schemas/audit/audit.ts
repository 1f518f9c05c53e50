import Type, { type Static } from 'typebox'
import { INSTANT_RULES, instantOf } from '../values/instants.ts'
import { AUDIT_PAGE_DEFAULT } from './audit-limits.ts'

/** Events of a page of the audit log. Decision. */
export const AUDIT_PAGE_MAX = 100

export const AUDIT_OUTCOMES = ['changed', 'released', 'refused'] as const

const word = (title: string, description: string) =>
  Type.Optional(Type.String({ pattern: '^[^\\u0000]+$', title, description }))
const instant = (description: string) => Type.Optional(Type.String({ title: INSTANT_RULES, description }))

export const ListAuditQuery = Type.Object({
  workspace_id: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'UUID or slug of a workspace, or the UUID of a deleted workspace; defaults to all workspaces of the organization.',
    }),
  ),
  operation: word(
    'the id of an operation',
    'Id of the operation, such as `keys.create`, or a command such as `cli.keys-create`.',
  ),
  object_kind: word(
    'the kind of an object',
    'Kind of the object: `key`, `secret`, `workspace`, `member`, `preset`, `user`, `scim_group`, `group_mapping`, `scim_token` or another.',
  ),
  object_id: word(
    'the id of an object',
    'Id of the object: hash of a key, name of a secret, otherwise a UUID.',
  ),
  actor_id: word(
    'the hash of a key, or the name of a user',
    'Actor: hash of a key or SCIM token, or name of an operating-system user of the command line.',
  ),
  outcome: Type.Optional(Type.Enum([...AUDIT_OUTCOMES])),
  since: instant('Returns only events at or after this time, in ISO 8601 with offset.'),
  until: instant('Returns only events before this time.'),
  before: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Returns only events with a smaller `n`; pass `next_before` from the previous page.',
    }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: AUDIT_PAGE_MAX, default: AUDIT_PAGE_DEFAULT })),
})
export type ListAuditQuery = Static<typeof ListAuditQuery>

const nullable = <T extends Type.TSchema>(shape: T) => Type.Union([shape, Type.Null()])

export const AuditEventShape = Type.Object({
  n: Type.Integer({
    minimum: 1,
    description: 'Number of the event in the organization: 1, 2, 3, … without gaps.',
  }),
  at: Type.String({
    format: 'date-time',
    description:
      'Time of the event in UTC, to the microsecond; never earlier than the time of the previous event.',
  }),
  organization_id: Type.String({ format: 'uuid' }),
  workspace_id: nullable(Type.String({ format: 'uuid' })),
  actor: Type.Object({
    kind: Type.String({ description: 'Kind of actor: `key`, `scim_token`, `cli` or `system`.' }),
    id: nullable(
      Type.String({ description: 'Hash of the key or token, or name of the operating-system user.' }),
    ),
  }),
  request_id: nullable(Type.String()),
  operation: Type.String(),
  outcome: Type.Enum([...AUDIT_OUTCOMES]),
  object_kind: Type.String(),
  object_id: Type.String(),
  before: Type.Unknown({
    description: 'The object before the change, without secrets; null when it did not exist.',
  }),
  after: Type.Unknown({
    description: 'The object after the change, without secrets; null when it no longer exists.',
  }),
  count: Type.Optional(
    Type.Integer({
      minimum: 1,
      description:
        'Number of identical refusals that this event combines; the first refusal has an event of its own. Absent in other events.',
    }),
  ),
  since: Type.Optional(
    Type.String({
      format: 'date-time',
      description:
        'Time of the first refusal in `count`, while `at` is when counting ended; absent without `count`.',
    }),
  ),
  hash: Type.String({
    pattern: '^[0-9a-f]{64}$',
    description: 'SHA-256 that chains this event to the previous event.',
  }),
})

export const AuditAnswer = Type.Object({
  data: Type.Array(AuditEventShape, {
    description: 'Events, newest first. A page may be short or empty even if more pages follow.',
  }),
  has_more: Type.Boolean(),
  next_before: nullable(Type.Integer({ minimum: 1, description: 'Value of `before` for the next page.' })),
})

/** Names of the query's invalid instants. */
export function faultsOfInstants(
  query: Readonly<Partial<Record<'since' | 'until', string | undefined>>>,
): readonly { readonly path: string; readonly expected: string }[] {
  return (['since', 'until'] as const).flatMap((name) => {
    const text = query[name]
    // The store's calendar has no year 0, and no offset of 16 hours or more; no offset on Earth exceeds 14.
    const isOne =
      text === undefined || (instantOf(text) !== null && !/^0000|[+-](?:1[6-9]|2\d):\d\d$/.test(text))
    return isOne ? [] : [{ path: `/${name}`, expected: INSTANT_RULES }]
  })
}
