import type { TSchema } from 'typebox'
import { IDEMPOTENCY_KEY_CHARS_MAX } from '../../../schemas/limits/idempotency-limits.ts'
import { SESSION_ID_CHARS_MAX } from '../../../schemas/limits/limits.ts'
import type { AnyOperation } from '../../operations/define.ts'
import { descriptionOf } from './members/described.ts'
import { memberText } from './members/texts.ts'
import { exampleOf, type Json } from './openapi-json.ts'

/** Descriptions of parameters by name, for shapes without a description of their own. C39. */
const BY_NAME: Readonly<Record<string, string>> = {
  author: "What stands before the slash of a model's id.",
  slug: "What stands behind the slash of a model's id, with its variant if any; or the slug of a preset.",
  model: 'Id of a model, its slash encoded as %2F, or an alias.',
  limit: 'Entries of a page at most.',
  offset: 'Entries before the page.',
  sort: 'The order of the list; where nothing is measured, that of the catalogue.',
  min_intelligence_index: 'Least score of that benchmark.',
  min_coding_index: 'Least score of that benchmark.',
  min_agentic_index: 'Least score of that benchmark.',
  min_tool_success_rate: 'Least share of tool calls that succeed, from 0 to 1.',
  job_id: 'Id of a video job.',
  file_id: 'Id of a file.',
  intern_id: 'Id of an intern.',
  name: 'Name of a secret.',
  id: 'Id of the object.',
  interval: 'The time that a budget is for.',
  include_disabled: 'Disabled keys are listed too.',
  key_hash: 'Hash of an API key: what belongs to it alone.',
  outcome: 'Entries of that outcome alone.',
  status: 'Entries of that status alone.',
  state: 'Entries of that state alone.',
  provider: 'Slug of a provider: its entries alone.',
}

/**
 * The description of a parameter as a member: that of its shape or of its name; empty when there is neither.
 */
function parameterDescription(name: string, schema: TSchema): { readonly description?: string } {
  const description = descriptionOf(schema) ?? BY_NAME[name] ?? memberText(name)
  return description === undefined ? {} : { description }
}

/** Request headers of every download, in their order. RFC 9110 §13, §14. */
const CONTENT_HEADERS = ['range', 'if-range', 'if-none-match'] as const

const HEADER_SHAPES: Readonly<Record<string, Json>> = {
  'x-sluice-substitute': {
    const: 'body',
    description: 'Placeholders in the body, of up to 64 KiB, are replaced too.',
  },
  range: { type: 'string', description: 'One range of bytes, `bytes=0-99`; several are ignored.' },
  'if-range': { type: 'string', description: 'An `ETag`: the range holds only for that content.' },
  'if-match': { type: 'string', description: 'An `ETag`: 412 when the resource is another version by now.' },
  'if-none-match': { type: 'string', description: 'An `ETag`: 304 when the content is still that one.' },
  'anthropic-version': { type: 'string', description: "Answers in Anthropic's shape of a file." },
  'anthropic-beta': { type: 'string', description: 'The same.' },
  'user-agent': {
    type: 'string',
    description: "One that begins with `OpenAI/` gets OpenAI's shape of a file.",
  },
  'x-stainless-lang': {
    type: 'string',
    description: "As any header that begins with `x-stainless-`: OpenAI's shape of a file.",
  },
  'idempotency-key': {
    type: 'string',
    minLength: 1,
    maxLength: IDEMPOTENCY_KEY_CHARS_MAX,
    description: 'A repetition within a day gets the first answer again.',
  },
  'x-sluice-hops': {
    type: 'string',
    description: 'How many gateways the call came through; written by Sluice.',
  },
  'x-claude-code-session-id': {
    type: 'string',
    description: 'Sent by Claude Code; turns with the same one go to the same endpoint.',
  },
  'session-id': { type: 'string', description: 'Sent by Codex, alike.' },
  'x-session-id': {
    type: 'string',
    maxLength: SESSION_ID_CHARS_MAX,
    description: 'Groups calls; `session_id` of the body wins.',
  },
}

/** Whether the operation takes an `Idempotency-Key`. C16. */
export function isRepeatable({ idempotent }: AnyOperation): boolean {
  return idempotent !== undefined && idempotent !== 'refused'
}

export function parametersOf(operation: AnyOperation): readonly Json[] {
  const { input, success, example } = operation
  const keyed = isRepeatable(operation) ? ['idempotency-key'] : []
  const taken = [
    ...(input.headers ?? []),
    ...keyed,
    ...(success.content === undefined ? [] : CONTENT_HEADERS),
  ]
  const examples = { ...(example.params as object | undefined), ...(example.query as object | undefined) }
  return [
    ...parametersIn('path', input.params, examples),
    ...parametersIn('query', input.query, examples),
    ...taken.map((name) => {
      const schema = HEADER_SHAPES[name] ?? { type: 'string' }
      return { name, in: 'header', required: false, ...parameterDescription(name, schema), schema }
    }),
  ]
}

function parametersIn(place: 'path' | 'query', schema: TSchema | undefined, examples: Json): readonly Json[] {
  // The type of the definitions guarantees that the inputs of a URL are objects.
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, TSchema>
    required?: string[]
  }
  return Object.entries(properties).map(([name, member]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    ...parameterDescription(name, member),
    schema: member,
    ...exampleOf(examples[name]),
  }))
}
