import Type, { type Static } from 'typebox'
import { INSTANT_RULES, instantOf } from '../values/instants.ts'
import { AUDIT_PAGE_DEFAULT, AUDIT_PAGE_MAX } from './audit-limits.ts'

export const AUDIT_OUTCOMES = ['changed', 'released', 'refused'] as const

const word = (title: string, description: string) =>
  Type.Optional(Type.String({ pattern: '^[^\\u0000]+$', title, description }))
const instant = (description: string) => Type.Optional(Type.String({ title: INSTANT_RULES, description }))

export const ListAuditQuery = Type.Object({
  workspace_id: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'UUID or slug; one that was deleted is found by its UUID. Left out: all of the organization.',
    }),
  ),
  operation: word(
    'id of an operation',
    'Such as `keys.create`, or of a verb of the command line, such as `cli.keys-create`.',
  ),
  object_kind: word(
    'kind of an object',
    'Such as `key`, `secret`, `workspace`, `member`, `preset`, `user`, `scim_group`, `group_mapping` or `scim_token`.',
  ),
  object_id: word('id of an object', 'Of a key its hash, of a secret its name, else a UUID.'),
  actor_id: word(
    'hash of a key, or name of a user',
    'Who did it: the hash of a key or of a SCIM token, or the name of a user of the command line.',
  ),
  outcome: Type.Optional(Type.Enum([...AUDIT_OUTCOMES])),
  since: instant('Events from this instant on (ISO 8601 with its offset).'),
  until: instant('Events before this instant.'),
  before: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Events with a smaller `n`: the `next_before` of the page before.',
    }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: AUDIT_PAGE_MAX, default: AUDIT_PAGE_DEFAULT })),
})
export type ListAuditQuery = Static<typeof ListAuditQuery>

const nullable = <T extends Type.TSchema>(shape: T) => Type.Union([shape, Type.Null()])

export const AuditEventShape = Type.Object({
  n: Type.Integer({ minimum: 1, description: '1, 2, 3, … in the organization, without gaps.' }),
  at: Type.String({ format: 'date-time', description: 'With microseconds, UTC; it never goes back.' }),
  organization_id: Type.String({ format: 'uuid' }),
  workspace_id: nullable(Type.String({ format: 'uuid' })),
  actor: Type.Object({
    kind: Type.String({ description: '`key`, `scim_token`, `cli` or `system`.' }),
    id: nullable(Type.String({ description: 'Hash of the key or token, or name of the user.' })),
  }),
  request_id: nullable(Type.String()),
  operation: Type.String(),
  outcome: Type.Enum([...AUDIT_OUTCOMES]),
  object_kind: Type.String(),
  object_id: Type.String(),
  before: Type.Unknown({ description: 'What could be seen of the object before; null = it did not exist.' }),
  after: Type.Unknown({ description: 'What can be seen of it since; null = it does not exist any more.' }),
  count: Type.Optional(
    Type.Integer({
      minimum: 1,
      description:
        'Of refusals: how many equal ones followed the first, which has an event of its own; left out, the event stands for itself.',
    }),
  ),
  since: Type.Optional(
    Type.String({
      format: 'date-time',
      description:
        'Beside `count`: when the first that it counts was refused; `at` is when the counting ended.',
    }),
  ),
  hash: Type.String({
    pattern: '^[0-9a-f]{64}$',
    description: 'SHA-256 that chains the event to the one before.',
  }),
})

export const AuditAnswer = Type.Object({
  data: Type.Array(AuditEventShape, {
    description:
      'Newest first. A page of a search that finds little, or large events, may be short or empty though there are more.',
  }),
  has_more: Type.Boolean(),
  next_before: nullable(Type.Integer({ minimum: 1, description: '`before` of the next page.' })),
})

/** Names of the query's instants that are not valid. */
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
