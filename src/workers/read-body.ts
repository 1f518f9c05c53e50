import { isAscii, isUtf8 } from 'node:buffer'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { BODIES, type BodyForm } from '../schemas/bodies.ts'
import { kindOf, type EmbeddingInput } from '../schemas/embeddings.ts'
import { fail, ok, type Outcome } from '../schemas/failures.ts'
import { issuesOf } from '../schemas/issues.ts'
import { INLINE_ISSUES_BYTES_MAX, INLINE_JSON_BYTES_MAX } from '../schemas/limits.ts'
import { withoutNulls } from '../schemas/null-members.ts'
import type { BodyVerdict, ShortJobTypes } from '../server/ports/short-jobs.ts'
import { jsonFault } from './json-fault.ts'
import { memberSpan } from './member-span.ts'

const VALIDATORS = new Map(Object.entries(BODIES).map(([name, form]) => [name, Compile<TSchema>(form.schema)]))
const ENCODER = new TextEncoder()
const PROTO_ISSUE = { path: '/__proto__', message: 'is not a known member', expected: 'known members alone' }
const UNEXPLAINED = { ...fail('body_invalid'), isUnexplained: true } as const

/**
 * Reads a JSON body: parses it, validates it, and takes it apart when it is too large for the loop. Then the bulky
 * member comes back as its bytes, a span of the input's own buffer, so that both can be moved; the parsed value never
 * leaves the thread, since cloning it blocks as long as parsing did.
 * @param input.bytes up to INLINE_JSON_BYTES_MAX they are only borrowed: nothing of the verdict points into them
 * @param input.isOnLoop a body over INLINE_ISSUES_BYTES_MAX that is not valid is refused without saying why
 */
export function readBody(input: ShortJobTypes['read_body']['in']): BodyVerdict {
  const form: BodyForm = BODIES[input.body]
  const parsed = parseBody(input)
  // Bytes that are not explained yet are read once more.
  if (form.isSecret === true && parsed !== UNEXPLAINED) input.bytes.fill(0)
  // A checked body is an object.
  if (!parsed.ok) return parsed
  const whole = parsed.value as Record<string, unknown>
  if (form.digest !== undefined) {
    const digested = form.digest(whole)
    return digested.ok ? { ok: true, value: { ...digested.value }, bulk: null } : digested
  }
  if (input.bytes.length <= INLINE_JSON_BYTES_MAX) return { ok: true, value: whole, bulk: null }
  const value = knownMembers(form.schema, whole)
  if (form.bulk === undefined) return { ok: true, value, bulk: null }
  const bulk = bulkOf(input.bytes, form.bulk, value[form.bulk])
  delete value[form.bulk]
  if (JSON.stringify(value).length <= INLINE_JSON_BYTES_MAX) return { ok: true, value, bulk }
  const expected = `at most ${INLINE_JSON_BYTES_MAX} characters of JSON beside ${form.bulk}`
  return fail('body_invalid', { metadata: { issues: [{ path: '', message: 'is too large', expected }] } })
}

/**
 * Parses and validates a JSON body.
 * @returns the parsed value; `body_malformed` for what is not strict JSON (contract C10: UTF-8 without a mark, depth,
 * well-formed strings, finite numbers), `body_invalid` with issues for what the schema refuses
 */
function parseBody({ body: name, bytes, isOnLoop }: ShortJobTypes['read_body']['in']): Outcome<unknown> | typeof UNEXPLAINED {
  const text = textOfUtf8(bytes)
  if (text === null) return malformed('It is not UTF-8.')
  if (text === '') return malformed('It is empty.')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return malformed(text.startsWith('\uFEFF') ? 'It begins with a byte order mark.' : positionOf(error))
  }
  // Before it is dropped: a shape that takes no other members has no such one either.
  const { schema } = BODIES[name] as { readonly schema: TSchema & { readonly additionalProperties?: unknown } }
  const isExtended = schema.additionalProperties === false && isObject(value) && Object.hasOwn(value, '__proto__')
  const fault = jsonFault(value, text)
  if (fault !== null) return malformed(fault)
  if (isExtended) return fail('body_invalid', { metadata: { issues: [PROTO_ISSUE] } })
  const validator = VALIDATORS.get(name)
  if (validator?.Check(value) === true) return ok(value)
  if (isOnLoop === true && bytes.length > INLINE_ISSUES_BYTES_MAX) return UNEXPLAINED
  // Only what is refused is looked through: bodies without such nulls cost nothing more. C35.
  const without = withoutNulls(schema, value)
  if (without !== value && validator?.Check(without) === true) return ok(without)
  return fail('body_invalid', { metadata: { issues: issuesOf(schema, without) } })
}

function bulkOf(bytes: Uint8Array, name: string, value: unknown): Extract<BodyVerdict, { ok: true }>['bulk'] {
  if (value === undefined) return null
  // A checked body's one bulky member is an embedding input.
  const kind = kindOf(value as EmbeddingInput)
  const count = Array.isArray(value) ? value.length : 1
  // Objects are written anew, so that what is passed on holds no member twice and nothing that was dropped here.
  if (kind === 'objects') return { json: ENCODER.encode(JSON.stringify(value)), kind, count }
  const { start, end } = memberSpan(bytes, name)
  return { json: bytes.subarray(start, end), kind, count }
}

function knownMembers(schema: TSchema, value: Record<string, unknown>): Record<string, unknown> {
  const known: Record<string, unknown> = {}
  const { properties } = schema as { properties?: Record<string, TSchema> }
  for (const name of Object.keys(properties ?? {})) if (Object.hasOwn(value, name)) known[name] = value[name]
  return known
}

/** Null for bytes that are not UTF-8. ASCII, the usual case, becomes a one-byte string without a decoder. */
function textOfUtf8(bytes: Uint8Array): string | null {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (isAscii(buffer)) return buffer.toString('latin1')
  return isUtf8(buffer) ? buffer.toString('utf8') : null
}

/** The parser's own message quotes the text; only its position may be told. */
function positionOf(error: unknown): string | undefined {
  const at = error instanceof Error ? /at position (\d+)/.exec(error.message)?.[1] : undefined
  return at === undefined ? undefined : `The error is near character ${at}.`
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function malformed(detail: string | undefined): Outcome<never> {
  return fail('body_malformed', detail === undefined ? {} : { detail })
}
