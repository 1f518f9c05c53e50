import { MAKER } from '../../../schemas/models/openai-maker.ts'
import { SIGNATURE_FORMATS, UNKNOWN_FORMAT } from '../../../dialects/prompt/signatures.ts'
import type { Failure } from '../../../schemas/failures.ts'
import type { Dialect } from '../../../schemas/inference/text-request.ts'
import type { CallableModel, Endpoint, EndpointText } from '../../ports/models/models.ts'
import { isCounted, type LimitFlags } from '../../../schemas/money/costs.ts'
import type { TextProtocol, ThinksIn } from '../../../schemas/models/protocols.ts'

/** The order in which protocols are tried for callers of another dialect: the protocol that carries the most comes first. */
const TRANSLATED: readonly TextProtocol[] = ['messages', 'responses', 'chat', 'gemini']

/**
 * The protocol in which an endpoint is called: the caller's dialect where the endpoint speaks it, else the first
 * protocol that a translation reaches. Null: the endpoint writes no text.
 */
export function protocolFor({ speaks }: Pick<EndpointText, 'speaks'>, dialect: Dialect): TextProtocol | null {
  if (speaks.includes(dialect)) return dialect
  return TRANSLATED.find((protocol) => speaks.includes(protocol)) ?? null
}

/** The protocol into which a call is translated for an endpoint; null when the call is sent untranslated, or cannot be sent at all. */
export function translatedTo(
  text: Pick<EndpointText, 'speaks'> | null,
  dialect: Dialect,
): TextProtocol | null {
  const protocol = text === null ? null : protocolFor(text, dialect)
  return protocol === dialect ? null : protocol
}

/** The text features that an endpoint accepts, by its catalogue entry and by its refusals. */
export class LearnedText {
  #text: EndpointText
  /** Whether the member is known, from the catalogue or a refusal. */
  #isKnown: boolean
  /** A refusal named the member. */
  #isRefused = false

  constructor(text: EndpointText) {
    this.#text = text
    this.#isKnown = text.reasoningField !== undefined
  }

  get text(): EndpointText {
    return this.#text
  }

  /** Reasoning is sent back in the member in which the answer had it. @param thinksIn null: the answer had no reasoning */
  answered(thinksIn: ThinksIn | null): void {
    if (this.#isKnown || thinksIn === null || thinksIn === this.#text.reasoningField) return
    this.#text = { ...this.#text, reasoningField: thinksIn }
  }

  /**
   * Learns from a refusal that names a member of the reasoning.
   * @returns a function that undoes the learning, unless an answer to the repeated request has confirmed it; null when
   * nothing was learned, so a repeated request would be refused again
   */
  refused({ name, detail = '' }: Failure): (() => void) | null {
    if (name !== 'upstream_refused' || MISSED.test(detail) || MISTYPED.test(detail)) return null
    const before = this.#text
    const { reasoningField: field = 'both' } = before
    const named = REFUSED.exec(detail)?.[1] ?? null
    if (named === null) return null
    // The request was written before the refusal of another call was learned.
    if (field !== 'both' && field !== named) return this.#isRefused ? KNOWN_ALREADY : null
    const left = named === 'reasoning' ? 'reasoning_content' : 'reasoning'
    const [wasKnown, wasRefused] = [this.#isKnown, this.#isRefused]
    const learned: EndpointText = { ...before, reasoningField: field === 'both' ? left : 'none' }
    this.#text = learned
    this.#isKnown = this.#isRefused = true
    return () => {
      // Another call has learned more since then.
      if (this.#text !== learned) return
      this.#text = before
      this.#isKnown = wasKnown
      this.#isRefused = wasRefused
    }
  }
}

const KNOWN_ALREADY = (): void => undefined
/** In refusals, names of members are in quotes or after a path. */
const REFUSED = /(?:['"`.]|\b(?=reasoning_content))(reasoning(?:_content)?)\b/
/** The provider requires the member. */
const MISSED = /must be (?:passed|provided|included|sent)|required|missing/i
/** The provider knows the member, but this caller's value of it is wrong. */
const MISTYPED =
  /(?:valid|of type|(?:not|be|expected|expects)(?: an?)?) ['"`]?str(?:ing)?\b|str type expected/i

export function isMaker({ provider }: Pick<Endpoint, 'provider'>): boolean {
  return provider.slug === MAKER
}

/** Google's cloud speaks Gemini's protocol, but reports tiers only in headers. */
export function isVertex({ provider }: Pick<Endpoint, 'provider'>): boolean {
  return /^https:\/\/[\w.-]*aiplatform\.[\w.-]*googleapis\.com(?:[:/]|$)/i.test(provider.baseUrl)
}

const SIGNED_BY: Readonly<Record<TextProtocol, string>> = { ...SIGNATURE_FORMATS, chat: UNKNOWN_FORMAT }
/** Providers that use the protocol of another maker, but sign with their own keys. */
const SIGNED_BY_PROVIDER: ReadonlyMap<string, Readonly<Partial<Record<TextProtocol, string>>>> = new Map([
  ['xai', { responses: 'xai-responses-v1' }],
  ['azure', { responses: 'azure-openai-responses-v1' }],
])

/** The format of the signatures that an endpoint gives and accepts. @param provider slug */
export function signatureFormatOf(provider: string, protocol: TextProtocol): string {
  return SIGNED_BY_PROVIDER.get(provider)?.[protocol] ?? SIGNED_BY[protocol]
}

/** Upstream name of the built-in model that writes 20 words a second. */
export const ECHO_SLOW = 'echo-1-slow'

export function isEcho({ provider, upstreamModel }: Endpoint): boolean {
  return provider.protocol === 'local' && (upstreamModel === 'echo-1' || upstreamModel === ECHO_SLOW)
}

/** True for a built-in endpoint, or one that the caller's form reaches, directly or by translation. */
export function isReached(endpoint: Endpoint, dialect: Dialect): boolean {
  return isEcho(endpoint) || (endpoint.text !== null && protocolFor(endpoint.text, dialect) !== null)
}

/**
 * Whether names in the request refer to the workspace's own objects at the provider: true under the workspace's own
 * key. Names of files count also when the request is translated.
 */
export function keeps(
  { ownWay, provider, text }: Endpoint,
  { dialect, statePath }: { readonly dialect: Dialect; readonly statePath?: string },
): boolean {
  if (ownWay === undefined || provider.protocol === 'local') return false
  return statePath === undefined || text?.speaks.includes(dialect) === true
}

/**
 * Whether the provider gets the bytes of an ambiguous body under the operator's key: it may then read the name of an
 * object in the operator's account where Sluice has read another name.
 */
export function mayReadOther(
  { ownWay, provider, text }: Endpoint,
  { dialect }: { readonly dialect: Dialect },
): boolean {
  return ownWay === undefined && provider.protocol !== 'local' && text?.speaks.includes(dialect) === true
}

/** Names the APIs of a model, for a call that none of its endpoints supports. */
export function spokenBy({ id, endpoints }: CallableModel, dialect: Dialect): string {
  const spoken = [...new Set(endpoints.flatMap(({ text }) => text?.speaks ?? []))]
  const forms = spoken.length === 0 ? 'no API that Sluice serves' : spoken.join(', ')
  return `The endpoints of \`${id}\` support ${forms}; this path needs ${dialect}.`
}

/** Limits on the tokens of one answer, in addition to that of its endpoint. */
export interface AnswerMaximum {
  /** The maximum in the request; null when it has none. */
  readonly tokensMax: number | null
  /** The maximum used instead under a finite limit; null or left out when neither the key nor its workspace sets one. */
  readonly defaultTokensMax?: number | null
  /** The limits of the key; null or left out when none is finite. */
  readonly limits?: LimitFlags | null
}

/**
 * The maximum tokens of one answer that is sent to the provider when the request has none. Null when none is sent:
 * where the context alone bounds the answer no maximum is needed, and providers refuse a prompt and a maximum that
 * together exceed the context.
 */
export function mustSendMax(
  endpoint: Pick<Endpoint, 'text' | 'ownWay' | 'contextLength'>,
  input: AnswerMaximum,
): number | null {
  return input.tokensMax === null && isBounded(endpoint, input) ? maxOfOurs(endpoint, input) : null
}

/** Whether a finite limit counts the calls of the endpoint. */
export function isBounded(
  { ownWay }: Pick<Endpoint, 'ownWay'>,
  { limits }: Pick<AnswerMaximum, 'limits'>,
): boolean {
  return limits !== undefined && limits !== null && isCounted(limits, ownWay !== undefined)
}

/** The lower of the endpoint's own maximum and the default. A default of the whole context or more limits nothing and is not sent. */
export function maxOfOurs(
  endpoint: Pick<Endpoint, 'text' | 'ownWay' | 'contextLength'>,
  input: Omit<AnswerMaximum, 'tokensMax'>,
): number | null {
  const ours = endpoint.text?.maxCompletionTokens ?? null
  const { defaultTokensMax = null } = input
  const context = known(endpoint.contextLength) ?? Infinity
  if (defaultTokensMax === null || defaultTokensMax >= context || !isBounded(endpoint, input)) return ours
  return Math.min(ours ?? Infinity, defaultTokensMax)
}

/** Some lists write 0 for "not known"; a context of 0 would allow no input at all. */
export function known(tokens: number | null): number | null {
  return tokens === 0 ? null : tokens
}
