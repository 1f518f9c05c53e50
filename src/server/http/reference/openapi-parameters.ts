import type { TSchema } from 'typebox'
import { IDEMPOTENCY_KEY_CHARS_MAX } from '../../../schemas/limits/idempotency-limits.ts'
import { SESSION_ID_CHARS_MAX } from '../../../schemas/limits/limits.ts'
import type { AnyOperation } from '../../operations/define.ts'
import { descriptionOf } from './members/described.ts'
import { exampleOf, type Json } from './openapi-json.ts'

/** Descriptions of parameters by name, for shapes without a description of their own. */
export const PARAMETER_TEXTS: Readonly<Record<string, string>> = {
  author: 'Part of the model id before the slash.',
  slug: 'Slug of the object; for a model, the part of its id after the slash, optionally with a variant.',
  model: 'Id of the model with its slash encoded as `%2F`, or an alias.',
  limit: 'Maximum number of entries on a page.',
  offset: 'Number of entries to skip.',
  sort: 'Sort order; models without a measurement keep the order of the catalogue.',
  min_intelligence_index: 'Lowest score on general tasks.',
  min_coding_index: 'Lowest score on programming tasks.',
  min_agentic_index: 'Lowest score on tasks with many steps and tools.',
  min_tool_success_rate: 'Lowest share of successful tool calls, from 0 to 1.',
  job_id: 'Id of the video job.',
  file_id: 'Id of the file.',
  intern_id: 'Id of the intern.',
  name: 'Name of the secret.',
  id: 'Id of the object.',
  interval: 'Interval of the budget.',
  include_disabled: 'Set to true to list disabled keys too.',
  key_hash: 'Hash of an API key; returns only its entries.',
  outcome: 'Returns only entries with this outcome.',
  status: 'Returns only entries with this status.',
  state: 'Returns only entries in this state.',
  provider: 'Slug of a provider; returns only its entries.',
}

/** The description of a parameter: from its shape, else by its name; empty when there is neither. */
function parameterDescription(name: string, schema: TSchema): { readonly description?: string } {
  const description = descriptionOf(schema) ?? PARAMETER_TEXTS[name]
  return description === undefined ? {} : { description }
}

/** Request headers of every download, in their order. RFC 9110 §13, §14. */
const CONTENT_HEADERS = ['range', 'if-range', 'if-none-match'] as const

const ANTHROPIC_HEADER: Json = {
  type: 'string',
  description:
    "Model calls send this header to the provider; with it, file operations return files in Anthropic's format.",
}

const HEADER_SHAPES: Readonly<Record<string, Json>> = {
  'x-sluice-substitute': {
    const: 'body',
    description: 'With `body`, Sluice also replaces placeholders in a request body of up to 64 KiB.',
  },
  range: {
    type: 'string',
    description: 'One byte range, such as `bytes=0-99`; a header with several ranges is ignored.',
  },
  'if-range': {
    type: 'string',
    description: '`ETag` of the content; the range applies only if the content has not changed.',
  },
  'if-match': {
    type: 'string',
    description: '`ETag` of the resource; the call returns 412 if the resource has changed.',
  },
  'if-none-match': {
    type: 'string',
    description: '`ETag` of the content; the call returns 304 if the content has not changed.',
  },
  'anthropic-version': ANTHROPIC_HEADER,
  'anthropic-beta': ANTHROPIC_HEADER,
  'user-agent': {
    type: 'string',
    description: "If the value begins with `OpenAI/`, the response uses OpenAI's file object format.",
  },
  'x-stainless-lang': {
    type: 'string',
    description:
      "With any header that begins with `x-stainless-`, the response uses OpenAI's file object format.",
  },
  'idempotency-key': {
    type: 'string',
    minLength: 1,
    maxLength: IDEMPOTENCY_KEY_CHARS_MAX,
    description:
      'Key of the call; a repeated call with the same key returns the first answer again for a day.',
  },
  'x-sluice-hops': {
    type: 'string',
    description: 'Number of gateways that the call passed through; Sluice sets the header.',
  },
  'x-claude-code-session-id': {
    type: 'string',
    description: 'Session id that Claude Code sends; calls with the same value use the same endpoint.',
  },
  'session-id': {
    type: 'string',
    description: 'Session id that Codex sends; calls with the same value use the same endpoint.',
  },
  'x-session-id': {
    type: 'string',
    maxLength: SESSION_ID_CHARS_MAX,
    description: 'Groups calls of one conversation; `session_id` in the body takes precedence.',
  },
}

/** Whether the operation takes an `Idempotency-Key`. */
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
