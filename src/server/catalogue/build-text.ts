import { MAKER } from '../../schemas/inference/forms/openai-maker.ts'
import { FIRST_OUTPUT_MS_DEFAULT, STALL_MS_DEFAULT } from '../../schemas/models/provider-limits.ts'
import type { Pricing } from '../../schemas/models/models.ts'
import type { Protocol } from '../../schemas/models/protocols.ts'
import type { LeaveKind, TextProtocol } from '../../schemas/models/text-models.ts'
import { nano, nanoPerMillion } from '../../schemas/money/prices.ts'
import type { EndpointText, Provider, ProviderText } from '../ports/models/models.ts'
import type { EndpointEntry, ModelEntry, ProviderEntry } from './format.ts'

/** Cohere's own protocol has no form of these; a catalogue may name an address that has. D5. */
const SPEAKS: Readonly<Record<Protocol, readonly TextProtocol[]>> = {
  openai: ['chat'],
  anthropic: ['messages'],
  google: ['gemini'],
  cohere: [],
  local: [],
}
/** Servers that copy its protocol have chat alone. */
const MAKER_SPEAKS: readonly TextProtocol[] = ['chat', 'responses']
/** Slugs of providers that answer 400 to a member that they do not know. D4. */
const STRICT: ReadonlySet<string> = new Set([MAKER, 'mistral'])
/** Google charges an answer whole, also when its connection ends before. D27. */
const ON_LEAVE: Readonly<Record<Protocol, LeaveKind>> = {
  openai: 'cancel',
  anthropic: 'cancel',
  google: 'drain',
  cohere: 'cancel',
  local: 'cancel',
}

/** @param entry a checked entry */
export function buildProviderText(entry: ProviderEntry): ProviderText {
  const { slug, protocol } = entry
  const isMaker = slug === MAKER && protocol === 'openai'
  return {
    speaks: entry.speaks ?? (isMaker ? MAKER_SPEAKS : SPEAKS[protocol]),
    isStrict: entry.strict ?? STRICT.has(slug),
    onLeave: entry.on_leave ?? ON_LEAVE[protocol],
    firstOutputMs: entry.first_output_ms ?? FIRST_OUTPUT_MS_DEFAULT,
    stallMs: entry.stall_ms ?? STALL_MS_DEFAULT,
  }
}

/** A model that says nothing of its outputs writes text. */
export function writesText({ architecture }: Pick<ModelEntry, 'architecture'>): boolean {
  return architecture?.output_modalities?.includes('text') ?? true
}

export function speaksOf(entry: EndpointEntry, provider: Provider | undefined): readonly TextProtocol[] {
  return entry.speaks ?? provider?.text?.speaks ?? []
}

/** Prices of tokens that are no text. */
const MEDIA_PRICES = ['audio', 'image_token', 'input_audio_cache', 'audio_output'] as const

interface Offered {
  readonly entry: EndpointEntry
  readonly provider: Provider
  readonly pricing: Pricing
}

/**
 * Null when the model writes no text. Missing cache prices are the prompt's, reasoning the
 * completion's, and that of an hour in a cache is that of five minutes. Missing prices of sounds and pictures
 * are those of texts. D26.
 */
export function endpointText(model: ModelEntry, offered: Offered): EndpointText | null {
  const { entry, provider, pricing } = offered
  if (!writesText(model) || provider.text === undefined) return null
  const prompt = counted(nanoPerMillion(pricing.prompt))
  const completion = counted(nanoPerMillion(pricing.completion))
  const input = (usd: string | undefined): number => perMillion(usd, prompt)
  const output = (usd: string | undefined): number => perMillion(usd, completion)
  const cacheRead = input(pricing.input_cache_read)
  const cacheWrite = input(pricing.input_cache_write)
  const cacheWriteHour = perMillion(pricing.input_cache_write_1h, cacheWrite)
  const reasoning = output(pricing.internal_reasoning)
  const media = {
    audio: input(pricing.audio),
    image: input(pricing.image_token),
    audioRead: perMillion(pricing.input_audio_cache, cacheRead),
    audioOutput: output(pricing.audio_output),
  }
  const { audio, image, audioRead, audioOutput } = media
  return {
    ...provider.text,
    speaks: speaksOf(entry, provider),
    completionNanoPerMillion: completion,
    cacheReadNanoPerMillion: cacheRead,
    cacheWriteNanoPerMillion: cacheWrite,
    cacheWriteHourNanoPerMillion: cacheWriteHour,
    reasoningNanoPerMillion: reasoning,
    inputNanoPerMillionMax: Math.max(prompt, cacheRead, cacheWrite, cacheWriteHour, audio, image, audioRead),
    outputNanoPerMillionMax: Math.max(completion, reasoning, audioOutput),
    ...(MEDIA_PRICES.some((name) => pricing[name] !== undefined) && { mediaNanoPerMillion: media }),
    ...(pricing.web_search !== undefined && { webSearchNano: counted(nano(pricing.web_search)) }),
    maxCompletionTokens:
      known(entry.max_completion_tokens) ?? known(model.top_provider?.max_completion_tokens),
  }
}

function perMillion(usd: string | undefined, otherwise: number): number {
  return usd === undefined ? otherwise : counted(nanoPerMillion(usd))
}

/** A maximum of 0 would bound every answer to nothing: some lists write 0 for "not known". */
function known(tokens: number | null | undefined): number | null {
  return tokens === undefined || tokens === 0 ? null : tokens
}

/** A checked price can be counted; a bug of the check must not become a free call. */
export function counted(price: number | null): number {
  if (price === null) throw new Error('catalogue: a price was not checked')
  return price
}
