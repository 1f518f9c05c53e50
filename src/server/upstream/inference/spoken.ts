import { MAKER } from '../../../schemas/models/openai-maker.ts'
import { SIGNATURE_FORMATS, UNKNOWN_FORMAT } from '../../../dialects/prompt/signatures.ts'
import type { Failure } from '../../../schemas/failures.ts'
import type { Dialect } from '../../../schemas/inference/text-request.ts'
import type { CallableModel, Endpoint, EndpointText } from '../../ports/models/models.ts'
import { isCounted, type LimitFlags } from '../../../schemas/money/costs.ts'
import type { TextProtocol, ThinksIn } from '../../../schemas/models/protocols.ts'

/** The order in which protocols are tried for callers of another dialect: what carries most comes first. */
const TRANSLATED: readonly TextProtocol[] = ['messages', 'responses', 'chat', 'gemini']

/**
 * The protocol in which an endpoint is called: the caller's dialect where the endpoint speaks it, else the
 * first that a translation reaches. Null: the endpoint speaks nothing.
 */
export function protocolFor({ speaks }: Pick<EndpointText, 'speaks'>, dialect: Dialect): TextProtocol | null {
  if (speaks.includes(dialect)) return dialect
  return TRANSLATED.find((protocol) => speaks.includes(protocol)) ?? null
}

/** The protocol that a call is written in for an endpoint; null: it goes out as it came, or not at all. */
export function translatedTo(
  text: Pick<EndpointText, 'speaks'> | null,
  dialect: Dialect,
): TextProtocol | null {
  const protocol = text === null ? null : protocolFor(text, dialect)
  return protocol === dialect ? null : protocol
}

/** What an endpoint takes, by its catalogue and by what it has refused. */
export class LearnedText {
  #text: EndpointText
  /** The catalogue names the member, or a refusal did. */
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

  /** Reasoning goes back in the member in which it came. @param thinksIn null: the answer had none */
  answered(thinksIn: ThinksIn | null): void {
    if (this.#isKnown || thinksIn === null || thinksIn === this.#text.reasoningField) return
    this.#text = { ...this.#text, reasoningField: thinksIn }
  }

  /**
   * Learns from a refusal that names a member of the reasoning.
   * @returns takes it back, unless an answer to the repetition has confirmed it; null: nothing was learned, and
   *   a repetition would be refused again
   */
  refused({ name, detail = '' }: Failure): (() => void) | null {
    if (name !== 'upstream_refused' || MISSED.test(detail) || MISTYPED.test(detail)) return null
    const before = this.#text
    const { reasoningField: field = 'both' } = before
    const named = REFUSED.exec(detail)?.[1] ?? null
    if (named === null) return null
    // The request was written before another call's refusal taught it.
    if (field !== 'both' && field !== named) return this.#isRefused ? KNOWN_ALREADY : null
    const left = named === 'reasoning' ? 'reasoning_content' : 'reasoning'
    const [wasKnown, wasRefused] = [this.#isKnown, this.#isRefused]
    const learned: EndpointText = { ...before, reasoningField: field === 'both' ? left : 'none' }
    this.#text = learned
    this.#isKnown = this.#isRefused = true
    return () => {
      // Another call has learned more since.
      if (this.#text !== learned) return
      this.#text = before
      this.#isKnown = wasKnown
      this.#isRefused = wasRefused
    }
  }
}

const KNOWN_ALREADY = (): void => undefined
/** Names of members in refusals stand in quotes or after a path. */
const REFUSED = /(?:['"`.]|\b(?=reasoning_content))(reasoning(?:_content)?)\b/
/** The provider wants the member. */
const MISSED = /must be (?:passed|provided|included|sent)|required|missing/i
/** The provider knows the member, and this caller's value of it is wrong. */
const MISTYPED =
  /(?:valid|of type|(?:not|be|expected|expects)(?: an?)?) ['"`]?str(?:ing)?\b|str type expected/i

export function isMaker({ provider }: Pick<Endpoint, 'provider'>): boolean {
  return provider.slug === MAKER
}

/** Google's cloud has Gemini's protocol, and tiers in headers alone. */
export function isVertex({ provider }: Pick<Endpoint, 'provider'>): boolean {
  return /^https:\/\/[\w.-]*aiplatform\.[\w.-]*googleapis\.com(?:[:/]|$)/i.test(provider.baseUrl)
}

const SIGNED_BY: Readonly<Record<TextProtocol, string>> = { ...SIGNATURE_FORMATS, chat: UNKNOWN_FORMAT }
/** Providers with a protocol of another maker, and keys of their own. */
const SIGNED_BY_PROVIDER: ReadonlyMap<string, Readonly<Partial<Record<TextProtocol, string>>>> = new Map([
  ['xai', { responses: 'xai-responses-v1' }],
  ['azure', { responses: 'azure-openai-responses-v1' }],
])

/** The format of the signatures that an endpoint gives, and takes back. @param provider slug */
export function signatureFormatOf(provider: string, protocol: TextProtocol): string {
  return SIGNED_BY_PROVIDER.get(provider)?.[protocol] ?? SIGNED_BY[protocol]
}

/** Upstream name of the built-in model that writes 20 words a second. */
export const ECHO_SLOW = 'echo-1-slow'

export function isEcho({ provider, upstreamModel }: Endpoint): boolean {
  return provider.protocol === 'local' && (upstreamModel === 'echo-1' || upstreamModel === ECHO_SLOW)
}

/** True for an endpoint that is built in, or that the caller's form reaches, also translated. */
export function isReached(endpoint: Endpoint, dialect: Dialect): boolean {
  return isEcho(endpoint) || (endpoint.text !== null && protocolFor(endpoint.text, dialect) !== null)
}

/**
 * What a provider stores is the workspace's own where the key is, and the names in the request are its own:
 * those of files also where the request is translated.
 */
export function keeps(
  { ownWay, provider, text }: Endpoint,
  { dialect, statePath }: { readonly dialect: Dialect; readonly statePath?: string },
): boolean {
  if (ownWay === undefined || provider.protocol === 'local') return false
  return statePath === undefined || text?.speaks.includes(dialect) === true
}

/**
 * The provider gets the bytes of an ambiguous body under the operator's key, and may read a name of what the
 * operator's account has where Sluice has read another one.
 */
export function mayReadOther(
  { ownWay, provider, text }: Endpoint,
  { dialect }: { readonly dialect: Dialect },
): boolean {
  return ownWay === undefined && provider.protocol !== 'local' && text?.speaks.includes(dialect) === true
}

/** What a model speaks, for a call that none of its endpoints takes. */
export function spokenBy({ id, endpoints }: CallableModel, dialect: Dialect): string {
  const spoken = [...new Set(endpoints.flatMap(({ text }) => text?.speaks ?? []))]
  const forms = spoken.length === 0 ? 'no API that Sluice serves' : spoken.join(', ')
  return `The endpoints of \`${id}\` support ${forms}; this path needs ${dialect}.`
}

/** Limits on the tokens of one answer, besides its endpoint's. */
export interface AnswerMaximum {
  /** That the request asks for; null: the request says none. */
  readonly tokensMax: number | null
  /** What stands for it under a finite limit; null or left out: neither the key nor its workspace says. */
  readonly defaultTokensMax?: number | null
  /** The limits of the key; null or left out: none is finite. */
  readonly limits?: LimitFlags | null
}

/**
 * The maximum of tokens of one answer that goes to the provider, since the request has none of its own.
 * Null: nothing is sent. Where the context alone bounds the answer nothing needs to be sent, and providers
 * refuse a prompt and a maximum that exceed the context together.
 */
export function mustSendMax(
  endpoint: Pick<Endpoint, 'text' | 'ownWay' | 'contextLength'>,
  input: AnswerMaximum,
): number | null {
  return input.tokensMax === null && isBounded(endpoint, input) ? maxOfOurs(endpoint, input) : null
}

/** A finite limit counts the calls of the endpoint. */
export function isBounded(
  { ownWay }: Pick<Endpoint, 'ownWay'>,
  { limits }: Pick<AnswerMaximum, 'limits'>,
): boolean {
  return limits !== undefined && limits !== null && isCounted(limits, ownWay !== undefined)
}

/** The lower of the endpoint's own maximum and the default that is sent. A default of the whole context or more bounds nothing. */
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

/** Some lists write 0 for "not known"; as a context it would bound every input to nothing. */
export function known(tokens: number | null): number | null {
  return tokens === 0 ? null : tokens
}
