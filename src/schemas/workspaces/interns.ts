import Type, { type Static, type TSchema } from 'typebox'
import { INTERNS_PAGE_DEFAULT, INTERNS_PAGE_MAX, NAME_CHARS_MAX } from './workspace-limits.ts'

const nullable = <T extends TSchema>(shape: T) => Type.Union([shape, Type.Null()])
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Whether a text may be the id of an intern; any other text in a cursor is refused before it reaches the store. */
export function isInternId(text: string): boolean {
  return UUID.test(text)
}

/** Sluice stores records and runs nothing: every intern is `stopped`, or `destroying` in the answer to its removal. */
export const INTERN_STATUSES = [
  'awaiting_slack_install',
  'queued',
  'provisioning',
  'running',
  'failed',
  'stopped',
  'destroying',
  'destroy_failed',
] as const
export type InternStatus = (typeof INTERN_STATUSES)[number]

/** The store's texts may contain any character but this one. */
const Text = Type.String({ pattern: '^[^\\u0000]*$', title: 'a string without U+0000' })
const Name = Type.String({
  minLength: 1,
  maxLength: NAME_CHARS_MAX,
  pattern: '^(?=[\\s\\S]*\\S)[^\\u0000]*$',
  title: `a string of 1 to ${NAME_CHARS_MAX} characters that is not blank`,
})
const AttachedVault = nullable(
  Type.String({ description: 'Id of the vault to attach; it must belong to the same workspace.' }),
)
const About = {
  description: Type.Optional(nullable(Text)),
  instructions: Type.Optional(nullable(Text)),
}

/** Other members are ignored. */
export const CreateInternBody = Type.Object({
  name: Name,
  provision: Type.Boolean({ description: 'Stored, but has no effect: Sluice does not run interns.' }),
  workspace_id: Type.Optional(
    Type.String({ description: 'UUID or slug of the workspace; defaults to `default`.' }),
  ),
  vault_id: Type.Optional(AttachedVault),
  ...About,
})
export type CreateInternBody = Static<typeof CreateInternBody>

/** Omitted members keep their value; null removes it. */
export const UpdateInternBody = Type.Object({
  name: Type.Optional(Name),
  vault_id: Type.Optional(AttachedVault),
  ...About,
})
export type UpdateInternBody = Static<typeof UpdateInternBody>

export const InternParams = Type.Object({ intern_id: Type.String() })

const WorkspaceRef = Type.String({
  minLength: 1,
  description: 'UUID or slug of the workspace; defaults to `default`.',
})

export const CreateInternQuery = Type.Object({ workspace_id: Type.Optional(WorkspaceRef) })

export const ListInternsQuery = Type.Object({
  workspace_id: Type.Optional(WorkspaceRef),
  status: Type.Optional(
    Type.String({
      pattern: `^(?:(?:${INTERN_STATUSES.join('|')})(?:,(?!$)|$))+$`,
      title: `one or more of ${INTERN_STATUSES.join(', ')}, separated by commas`,
      description: 'Comma-separated statuses.',
    }),
  ),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: INTERNS_PAGE_MAX, default: INTERNS_PAGE_DEFAULT }),
  ),
  cursor: Type.Optional(
    Type.String({ minLength: 1, description: 'Value of `next_cursor` from the previous page.' }),
  ),
  starting_after: Type.Optional(
    Type.String({ minLength: 1, description: 'The same as `cursor`, for existing clients.' }),
  ),
})

/** Statuses in a query's list. */
export function statusesOf(list: string): readonly InternStatus[] {
  return INTERN_STATUSES.filter((status) => list.split(',').includes(status))
}

/** Without the envelope `data`. */
export const InternAnswer = Type.Object({
  id: Type.String(),
  name: Type.String(),
  status: Type.Enum([...INTERN_STATUSES]),
  workspace_id: Type.String(),
  vault_id: nullable(Type.String({ description: "Id of the intern's own vault." })),
  attached_vault_id: nullable(Type.String()),
  description: nullable(Type.String()),
  hostname: Type.Null(),
  instructions: nullable(Type.String()),
  model: Type.Null(),
  last_failure_message: Type.Null(),
  progress: Type.Null(),
  created_at: Type.String({ format: 'date-time' }),
  updated_at: Type.String({ format: 'date-time' }),
})
export type InternAnswer = Static<typeof InternAnswer>

/** Existing clients accept only an answer with `deleting`. */
export const DeletedInternAnswer = Type.Object({ ...InternAnswer.properties, deleting: Type.Literal(true) })

export const InternListAnswer = Type.Object({
  data: Type.Array(InternAnswer),
  has_more: Type.Boolean(),
  next_cursor: Type.Optional(Type.String()),
})
export type InternListAnswer = Static<typeof InternListAnswer>
