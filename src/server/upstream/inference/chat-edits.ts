import { CHAT_OURS, INCLUDE_USAGE } from '../../../schemas/inference/chat-members.ts'
import { isNull, providerBody, type BodyEdit } from '../../../schemas/inference/provider-body.ts'
import {
  REASONING_DEFAULTS,
  REASONING_MEMBERS,
  STRICT_CUT,
  STRICT_CUT_BY_ROLE,
  STRICT_CUT_INSIDE,
  STRICT_CUT_INSIDE_DEFAULTS,
} from '../../../schemas/inference/strict-members.ts'
import type { KeptBody, MemberSpan } from '../../../schemas/kept-body.ts'
import type { Endpoint, EndpointText } from '../../ports/models/models.ts'
import { mustSendMax } from './bounds.ts'
import { fileEdits } from './inline/file-edits.ts'
import type { NativeJob, NativeRequest } from './protocol.ts'

/** The maker's newer models refuse `max_tokens`; servers that copy its protocol know that name alone. */
const OPENAI = 'openai'

/** The bytes of a chat for a provider that speaks chat. D4, D7, D25. */
export function chatRequest(
  { request, files, limits = null, defaultTokensMax = null }: NativeJob,
  endpoint: Endpoint,
  { isStrict }: Pick<EndpointText, 'isStrict'>,
): NativeRequest {
  const { source, isStream, size } = request
  const { upstreamModel, provider } = endpoint
  const tokens = mustSendMax(endpoint, { tokensMax: size.tokensMax, defaultTokensMax, limits })
  const name = provider.slug === OPENAI ? 'max_completion_tokens' : 'max_tokens'
  const edits = nativeEdits(source, {
    upstreamModel,
    isStream,
    tokensMax: tokens === null ? null : { name, tokens },
  })
  const all = [...edits, ...fileEdits(source, files)]
  if (!isStrict) return { body: providerBody(source, all), dropped: [] }
  const strict = strictEdits(source)
  return { body: providerBody(source, [...all, ...strict.edits]), dropped: strict.dropped }
}

export interface NativeTerms {
  /** The provider's own name of the model. */
  readonly upstreamModel: string
  /** Each event of usage has to be asked for. D7. */
  readonly isStream: boolean
  /**
   * The most tokens of an answer, by the provider's name for it; null: the provider gets none of ours. D25.
   */
  readonly tokensMax: {
    readonly name: 'max_tokens' | 'max_completion_tokens'
    readonly tokens: number
  } | null
}

/** The changes of every chat that goes to a provider which speaks chat. D4, D7, D25. */
export function nativeEdits(
  body: KeptBody,
  { upstreamModel, isStream, tokensMax }: NativeTerms,
): readonly BodyEdit[] {
  const model: BodyEdit = { kind: 'set', name: 'model', json: JSON.stringify(upstreamModel) }
  const edits = [model, ...OURS_CUT]
  if (isStream) edits.push(...usageEdits(body))
  const isAsked = has(body, 'max_tokens') || has(body, 'max_completion_tokens')
  if (tokensMax !== null && !isAsked)
    edits.push({ kind: 'add', name: tokensMax.name, json: String(tokensMax.tokens) })
  return edits
}

const OURS_CUT: readonly BodyEdit[] = CHAT_OURS.map((name) => ({ kind: 'cut', name }))

/** Whether the caller sent the member, with a value. */
export function has(body: KeptBody, name: string): boolean {
  const member = body.last(name)
  return member !== null && !isNull(body, member)
}

/** Asks for the usage, and leaves the caller's other options of the stream. */
function usageEdits(body: KeptBody): readonly BodyEdit[] {
  const options = body.last('stream_options')
  const member = `"${INCLUDE_USAGE}":true`
  if (options === null || isNull(body, options))
    return [{ kind: 'set', name: 'stream_options', json: `{${member}}` }]
  const asked = body.marks.filter(
    ({ name, keyStart }) => name === INCLUDE_USAGE && keyStart > options.start && keyStart < options.end,
  )
  return asked.length === 0
    ? [{ kind: 'open', object: options, member }]
    : asked.map((mark) => ({ kind: 'set_mark', mark, json: 'true' }))
}

export interface StrictChanges {
  readonly edits: readonly BodyEdit[]
  /** Members that the provider does not get, each once, for `x-sluice-dropped`. */
  readonly dropped: readonly string[]
}

/**
 * The changes for a provider that refuses members which it does not know. Members that no table of ours
 * knows still go out: the provider decides. D4.
 */
export function strictEdits(body: KeptBody): StrictChanges {
  const edits: BodyEdit[] = []
  const dropped = new Set<string>()
  for (const [name, { defaults }] of Object.entries(STRICT_CUT)) {
    const member = body.last(name)
    if (member === null) continue
    edits.push({ kind: 'cut', name })
    if (!isDefault(body, member, defaults)) dropped.add(name)
  }
  edits.push(...reasoningEdits(body, dropped))
  for (const mark of body.marks) {
    if (!CUT_INSIDE.has(mark.name)) continue
    edits.push({ kind: 'cut_mark', mark })
    if (!dropped.has(mark.name) && !isDefault(body, mark, STRICT_CUT_INSIDE_DEFAULTS)) dropped.add(mark.name)
  }
  return { edits, dropped: [...dropped] }
}

const CUT_INSIDE: ReadonlySet<string> = new Set([
  ...STRICT_CUT_INSIDE,
  ...Object.values(STRICT_CUT_BY_ROLE).flat(),
])

/** The effort of `reasoning` is passed on, and the rest is named. */
function reasoningEdits(body: KeptBody, dropped: Set<string>): readonly BodyEdit[] {
  const member = body.last('reasoning')
  if (member === null) return []
  const cut: BodyEdit = { kind: 'cut', name: 'reasoning' }
  if (isNull(body, member)) return [cut]
  const reasoning = smallValue(body, member)
  if (reasoning === null) {
    dropped.add('reasoning')
    return [cut]
  }
  const { effort, ...others } = reasoning as Readonly<Record<string, unknown>>
  for (const [name, value] of Object.entries(others)) {
    const isImplied = name === 'enabled' && value === true && typeof effort === 'string'
    const isUsual = value === null || REASONING_DEFAULTS.get(name)?.includes(JSON.stringify(value)) === true
    if (!isImplied && !isUsual)
      dropped.add(REASONING_MEMBERS.includes(name) ? `reasoning.${name}` : 'reasoning')
  }
  if (typeof effort !== 'string') return [cut]
  const own = body.last('reasoning_effort')
  const json = JSON.stringify(effort)
  if (own !== null && !isDefault(body, own, [json])) dropped.add('reasoning_effort')
  return [cut, { kind: 'set', name: 'reasoning_effort', json }]
}

/** Bytes of a value that is parsed here; the value of each member that has a default is shorter. */
const SMALL_BYTES_MAX = 4_096

/** The value of a short object; null: it is long. */
function smallValue({ bytes }: KeptBody, { start, end }: MemberSpan): object | null {
  if (end - start > SMALL_BYTES_MAX) return null
  const value: unknown = JSON.parse(Buffer.from(bytes.subarray(start, end)).toString())
  return typeof value === 'object' ? value : null
}

/** Whether a value changes nothing. @param defaults as JSON. Null is the default of every member. */
export function isDefault(body: KeptBody, member: MemberSpan, defaults: readonly string[]): boolean {
  if (isNull(body, member)) return true
  const { start, end } = member
  if (end - start > DEFAULT_BYTES_MAX) return false
  const json = Buffer.from(body.bytes.subarray(start, end)).toString()
  return defaults.includes(JSON.stringify(JSON.parse(json)))
}

/** Bytes of a value that may be a default, with white space. */
const DEFAULT_BYTES_MAX = 64
