import { isAscii, isUtf8 } from 'node:buffer'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { DIGESTS, type DigestedName } from '../dialects/digests.ts'
import { BODIES, type BodyForm, type BodyName } from '../schemas/bodies.ts'
import { kindOf, picturesOf, type EmbeddingInput } from '../schemas/embeddings/embeddings.ts'
import type { Issue } from '../schemas/failure-metadata.ts'
import { fail } from '../schemas/failures.ts'
import { issuesOf } from '../schemas/issues.ts'
import { IGNORED_NAMES_MAX, isClosed, otherMembers, type OtherMember } from '../schemas/other-members.ts'
import {
  INLINE_ISSUES_BYTES_MAX,
  INLINE_JSON_BYTES_MAX,
  ISSUES_MAX,
  JSON_DEPTH_MAX,
  INLINE_DIGESTED_COMMAS_MAX,
  INLINE_JSON_COMMAS_MAX,
  OUTLINED_BYTES_MIN,
} from '../schemas/limits/limits.ts'
import { withoutNulls } from '../schemas/null-members.ts'
import type { BodyVerdict, ShortJobTypes } from '../server/ports/short-jobs.ts'
import type { KeptPlaces } from '../schemas/kept-body.ts'
import { scanBody, type Member, type Misnamed } from './body-scan.ts'
import { escapedBytes, OPEN_LIST, OPEN_OBJECT, type Span } from '../schemas/values/json-bytes.ts'
import { dropProto, jsonFault, LONE_SURROGATE, tooDeep } from './json-fault.ts'
import { outlineOf } from './json-outline.ts'
import { KeptNames } from './kept-plan.ts'
import { malformationOf } from './json-position.ts'
import { mayHaveProto, mendSurrogates } from './json-syntax.ts'
import { locatedObjects, pathTo } from './located-objects.ts'
import { pointerOf } from '../schemas/values/json-path.ts'

const VALIDATORS = new Map(
  Object.entries(BODIES).map(([name, form]) => [name, Compile<TSchema>(form.schema)]),
)
const ENCODER = new TextEncoder()
const PROTO_ISSUE = { path: '/__proto__', message: 'is not a known member', expected: 'only known members' }
const PROTO_REFUSED = fail('body_invalid', { metadata: { issues: [PROTO_ISSUE] } })
const FOR_THREAD = { ...fail('body_invalid'), isForThread: true } as const
/** Represents a value that is unknown and not examined. */
const NOT_KNOWN = {}
const STAND_INS: Readonly<Record<string, string>> = { '"': '""', t: 'true', f: 'false', n: 'null' }

const NO_OTHERS: readonly OtherMember[] = []
const NAMES = new WeakMap<TSchema, readonly string[]>()
const KEPT_NAMES = new Map(
  Object.entries<BodyForm>(BODIES).flatMap(([name, { keeps, schema }]) =>
    keeps === undefined ? [] : [[name, new KeptNames(keeps, namesOf(schema))]],
  ),
)

/**
 * Reads a JSON body. On the loop the body is parsed and validated completely. In a thread its bytes are scanned before
 * any value is built, and only its known members are parsed. The large member comes back as its bytes, a span of the
 * input's own buffer, so that both can be moved: the parsed value never leaves the thread, since cloning it blocks as
 * long as parsing. A form that keeps its bytes is scanned in both places, and the verdict has the bytes of the input
 * themselves.
 * @param input.isOnLoop at most INLINE_JSON_BYTES_MAX bytes, which are only borrowed: the verdict contains no reference
 * to them, unless its form keeps them; the caller then copies them. Work that would hold the loop for too long is left
 * to a thread: many values, and listing the issues of more than INLINE_ISSUES_BYTES_MAX
 */
export function readBody(input: ShortJobTypes['read_body']['in']): BodyVerdict {
  const { bytes } = input
  const form: BodyForm = BODIES[input.body]
  const mayBeWhole =
    input.isOnLoop === true || (form.keepsOthers === true && bytes.length <= INLINE_JSON_BYTES_MAX)
  const isWhole = mayBeWhole && form.keeps === undefined
  const read = isWhole ? readWhole(input) : readKnown(input)
  // Bytes that are left to a thread are read again.
  if (form.isSecret === true && read !== FOR_THREAD) bytes.fill(0)
  if (!read.ok) return read
  const { value } = read
  if (form.isDigested === true) {
    const digestOf = DIGESTS[input.body as DigestedName]
    const digested = digestOf(value, bytes.length, read.places === null ? 0 : escapedBytes(bytes))
    if (!digested.ok) return digested
    const digest = digested.value as Record<string, unknown>
    return read.places === null
      ? { ok: true, value: digest, bulk: null }
      : withBytes(digest, { bytes, places: withObjects(read.places, { bytes, digest, form }) })
  }
  const verdict =
    isWhole || form.bulk === undefined
      ? ({ ok: true, value, bulk: null } as const)
      : withBulk(form.bulk, read)
  return verdict.ok && read.others.length > 0 ? { ...verdict, others: read.others } : verdict
}

interface Read {
  readonly ok: true
  readonly value: Record<string, unknown>
  /** The bytes of a member. Never called for a body that was read completely. */
  readonly bytesOf: (name: string) => Uint8Array
  /** Null for a form that does not keep its bytes. */
  readonly places: KeptPlaces | null
  /** Empty for a form whose operation reads them. */
  readonly others: readonly OtherMember[]
}

type Refused = Extract<BodyVerdict, { ok: false }>

const WHOLE = (): never => {
  throw new Error('members requested from a body that was read as a whole')
}

/**
 * Failures: `body_malformed` for a body that is not strict JSON (C10: UTF-8 without a mark, depth,
 * well-formed strings, finite numbers), `body_invalid` with issues for a body that the schema refuses.
 */
function readWhole({ body: name, bytes, isOnLoop }: ShortJobTypes['read_body']['in']): Read | Refused {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const form: BodyForm = BODIES[name]
  const outlined = outlineFault(buffer, form, isOnLoop === true)
  if (outlined !== null) return outlined
  const text = textOfUtf8(buffer)
  if (text === null) return unparsed(buffer, form, isOnLoop === true)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return unparsed(buffer, form, isOnLoop === true)
  }
  const fault = jsonFault(value, text, depthOf(form))
  if (fault !== null) return malformed(fault)
  const checked = checkedAs(name, value, {
    isLeft: isOnLoop === true && bytes.length > INLINE_ISSUES_BYTES_MAX,
    hasProto: mayHaveProto(text),
  })
  if (!checked.ok) return checked
  const { value: taken } = checked
  return { ok: true, value: taken, bytesOf: WHOLE, places: null, others: othersIn(form, taken) }
}

/** A body that is too deep, or that takes too long for the loop. */
function outlineFault(buffer: Buffer, form: BodyForm, isOnLoop: boolean): Refused | null {
  if (buffer.length <= OUTLINED_BYTES_MIN) return null
  const depthMax = depthOf(form)
  const commasMax = form.isDigested === true ? INLINE_DIGESTED_COMMAS_MAX : INLINE_JSON_COMMAS_MAX
  const outline = outlineOf(buffer, { commasMax, depthMax })
  if (outline === 'deep') return malformed(tooDeep(depthMax))
  return outline === 'many' && isOnLoop ? FOR_THREAD : null
}

/** Reads a body by first scanning its bytes: unknown members are skipped, whatever they contain. */
function readKnown({ body: name, bytes, isOnLoop }: ShortJobTypes['read_body']['in']): Read | Refused {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const form: BodyForm = BODIES[name]
  if (!isUtf8(buffer)) return unparsed(buffer, form, isOnLoop === true)
  const outlined = isOnLoop === true ? outlineFault(buffer, form, true) : null
  if (outlined !== null) return outlined
  const isShut = isClosed(form.schema)
  const ofDigest = form.keeps === undefined ? Infinity : 0
  const keeps = KEPT_NAMES.get(name)
  const scan = scanBody(buffer, {
    names: namesOf(form.schema),
    othersMax: isShut ? ISSUES_MAX : form.isDigested === true ? ofDigest : IGNORED_NAMES_MAX,
    ...(keeps !== undefined && { keeps }),
    depthMax: depthOf(form),
  })
  if (!scan.ok) {
    if (scan.misnamed !== undefined)
      return fail('body_invalid', { metadata: { issues: [misnamedIssue(buffer, scan.misnamed)] } })
    return scan.detail === null ? unparsed(buffer, form, isOnLoop === true) : malformed(scan.detail)
  }
  const isLeft = isOnLoop === true && bytes.length > INLINE_ISSUES_BYTES_MAX
  if (scan.known === null) return checkedAs(name, standIn(scan.first), { isLeft, hasProto: false }) as Refused
  const parsed = parsedKnown(buffer, scan.known, { form, isAll: scan.known.length === scan.count })
  if (parsed === null) return unparsed(buffer, form, isOnLoop === true)
  if (!parsed.ok) return parsed
  const { value, hasProto } = parsed
  for (const member of scan.others) {
    if (member.name !== '__proto__')
      value[member.name] = form.isDigested === true ? scalarOf(buffer, member) : NOT_KNOWN
    else if (isShut) return PROTO_REFUSED
  }
  const checked = checkedAs(name, value, { isLeft, hasProto })
  if (!checked.ok) return checked
  const { ambiguous, known, places } = scan
  const bytesOf = (member: string): Uint8Array => {
    const { start = 0, end = 0 } = known.find(({ name }) => name === member) ?? {}
    return bytes.subarray(start, end)
  }
  return {
    ok: true,
    value: knownMembers(form, checked.value),
    bytesOf,
    others: othersIn(form, checked.value),
    places:
      ambiguous === null || places === null
        ? places
        : { ...places, ambiguous: misnamedIssue(buffer, ambiguous) },
  }
}

function othersIn(form: BodyForm, value: unknown): readonly OtherMember[] {
  const { schema, bulk, isDigested, keepsOthers } = form
  return isDigested === true || keepsOthers === true ? NO_OTHERS : otherMembers(schema, value, bulk)
}

/** Parsers differ in which of several members with one name they use, and in whether they ignore the case of names. */
function misnamedIssue(bytes: Buffer, { at, name }: Misnamed): Issue {
  const path = pathTo(bytes, at)
  return path.at(-1) === name
    ? { path: pointerOf(path), message: `repeats \`${name}\``, expected: `one \`${name}\`` }
    : {
        path: pointerOf(path),
        message: `differs from \`${name}\` only in upper and lower case`,
        expected: `\`${name}\``,
      }
}

interface Checking {
  /** The issues are left to a thread and not listed here. */
  readonly isLeft: boolean
  /** Members called `__proto__` may be present: closed shapes refuse them, and other shapes drop them. */
  readonly hasProto: boolean
}

function checkedAs(
  name: BodyName,
  value: unknown,
  { isLeft, hasProto }: Checking,
): { readonly ok: true; readonly value: Record<string, unknown> } | Refused {
  const { schema } = BODIES[name]
  const validator = VALIDATORS.get(name)
  // Every form is an object.
  if (validator?.Check(value) === true) return taken(value, hasProto)
  if (isLeft) return FOR_THREAD
  // Only refused bodies are searched for such nulls, so that accepted bodies cost nothing more.
  const without = withoutNulls(schema, value)
  if (without !== value && validator?.Check(without) === true) return taken(without, hasProto)
  const refused = fail('body_invalid', { metadata: { issues: issuesOf(schema, without) } })
  const others = othersIn(BODIES[name], without)
  return others.length === 0 ? refused : { ...refused, others }
}

function taken(
  value: unknown,
  hasProto: boolean,
): { readonly ok: true; readonly value: Record<string, unknown> } {
  if (hasProto) dropProto(value)
  return { ok: true, value: value as Record<string, unknown> }
}

function withBulk(name: string, { value, bytesOf }: Read): BodyVerdict {
  const bulk = bulkOf(bytesOf(name), value[name])
  const { [name]: _, ...small } = value
  return isSmall(small) ? { ok: true, value: small, bulk } : tooLarge(name)
}

/** Adds the places of objects to which the digest points; most digests have none. */
function withObjects(
  places: KeptPlaces,
  {
    bytes,
    digest,
    form: { keeps },
  }: { readonly bytes: Uint8Array; readonly digest: object; readonly form: BodyForm },
): KeptPlaces {
  const paths = keeps?.objects?.pathsOf(digest) ?? []
  if (keeps?.objects === undefined || paths.length === 0) return places
  return { ...places, objects: locatedObjects(bytes, paths, keeps.objects.names) }
}

type Taken = Extract<BodyVerdict, { ok: true }>

/** The digest of a large body must be small: it is cloned when it is sent to the loop, while the bytes are moved. */
function withBytes(value: Taken['value'], source: NonNullable<Taken['source']>): BodyVerdict {
  const isOk = source.bytes.length <= INLINE_JSON_BYTES_MAX || isSmall(value)
  return isOk ? { ok: true, value, bulk: null, source } : tooLarge('messages and tools')
}

function isSmall(value: Record<string, unknown>): boolean {
  return JSON.stringify(value).length <= INLINE_JSON_BYTES_MAX
}

function tooLarge(apart: string): Refused {
  const expected = `at most ${INLINE_JSON_BYTES_MAX} characters of JSON, not counting ${apart}`
  return fail('body_invalid', { metadata: { issues: [{ path: '', message: 'is too large', expected }] } })
}

function bulkOf(json: Uint8Array, value: unknown): Extract<BodyVerdict, { ok: true }>['bulk'] {
  if (value === undefined) return null
  // The only large member of a checked body is an embedding input.
  const input = value as EmbeddingInput
  const kind = kindOf(input)
  const count = Array.isArray(value) ? value.length : 1
  // Objects are written again, so that the bytes that are passed on contain no repeated and no dropped member.
  if (kind === 'objects')
    return { json: ENCODER.encode(JSON.stringify(value)), kind, count, pictures: picturesOf(input) }
  return { json, kind, count }
}

/** Returns all members for a digest, which reports the names of those that are not kept. */
function knownMembers(
  { schema, isDigested }: BodyForm,
  value: Record<string, unknown>,
): Record<string, unknown> {
  return isDigested !== true
    ? Object.fromEntries(Object.entries(value).filter(([name]) => namesOf(schema).includes(name)))
    : value
}

interface Parsed<V> {
  readonly ok: true
  readonly value: V
  readonly hasProto: boolean
}

/**
 * Parses the known members of a body; all together when the body has no others and none is repeated. Null when one is not JSON.
 * Failure: body_malformed.
 */
function parsedKnown(
  bytes: Buffer,
  known: readonly Member[],
  { form, isAll }: { readonly form: BodyForm; readonly isAll: boolean },
): Parsed<Record<string, unknown>> | Refused | null {
  if (isAll) return valueOf<Record<string, unknown>>(bytes, { start: 0, end: bytes.length }, form)
  const value: Record<string, unknown> = {}
  let hasProto = false
  for (const member of known) {
    const parsed = valueOf(bytes, member, form)
    if (parsed === null || !parsed.ok) return parsed
    value[member.name] = parsed.value
    hasProto ||= parsed.hasProto
  }
  return { ok: true, value, hasProto }
}

/** Parses a value, whose strings were not checked; null: it is not JSON. Failure: body_malformed. */
function valueOf<V>(bytes: Buffer, span: Span, form: BodyForm): Parsed<V> | Refused | null {
  const part = bytes.subarray(span.start, span.end)
  const text = isAscii(part) ? part.toString('latin1') : part.toString('utf8')
  let value: V
  try {
    value = JSON.parse(text) as V
  } catch {
    return null
  }
  const hasProto = mayHaveProto(text)
  const fault = hasProto ? jsonFault(value, text, depthOf(form)) : null
  if (fault === null) return { ok: true, value, hasProto }
  if (fault !== LONE_SURROGATE || form.keeps === undefined) return malformed(fault)
  mendSurrogates(bytes, span)
  return valueOf(bytes, span, form)
}

/**
 * Parses a value to compare it with null and the default: other unknown members are reported by name. The content of a
 * list or object is not examined.
 */
function scalarOf(bytes: Buffer, span: Span): unknown {
  const first = bytes[span.start]
  return first === OPEN_LIST || first === OPEN_OBJECT
    ? NOT_KNOWN
    : JSON.parse(bytes.toString('utf8', span.start, span.end))
}

/** A value of the kind that begins with this byte: no shape accepts it, and the issue names only the kind. */
function standIn(first: number): unknown {
  return first === OPEN_LIST ? [] : JSON.parse(STAND_INS[String.fromCharCode(first)] ?? '0')
}

/** Null for bytes that are not UTF-8. ASCII, the usual case, becomes a one-byte string without a decoder. */
function textOfUtf8(buffer: Buffer): string | null {
  if (isAscii(buffer)) return buffer.toString('latin1')
  return isUtf8(buffer) ? buffer.toString('utf8') : null
}

function namesOf(schema: TSchema): readonly string[] {
  const { properties = {} } = schema as { readonly properties?: Readonly<Record<string, TSchema>> }
  const names = NAMES.get(schema) ?? Object.keys(properties)
  NAMES.set(schema, names)
  return names
}

function depthOf({ depthMax = JSON_DEPTH_MAX }: BodyForm): number {
  return depthMax
}

/** The refusal of a body that is not JSON, with the place of its fault; for a larger body a thread finds the place. */
function unparsed(bytes: Buffer, form: BodyForm, isOnLoop: boolean): Refused {
  if (isOnLoop && bytes.length > INLINE_ISSUES_BYTES_MAX) return FOR_THREAD
  const depthMax = depthOf(form)
  const metadata = malformationOf(bytes, depthMax)
  return metadata === null ? malformed(tooDeep(depthMax)) : fail('body_malformed', { metadata })
}

function malformed(detail: string): Refused {
  return fail('body_malformed', { detail })
}
