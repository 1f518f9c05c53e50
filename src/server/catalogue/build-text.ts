import { MAKER } from '../../schemas/models/openai-maker.ts'
import { FIRST_OUTPUT_MS_DEFAULT, STALL_MS_DEFAULT } from '../../schemas/models/provider-limits.ts'
import type { Protocol, LeaveKind, TextProtocol } from '../../schemas/models/protocols.ts'
import type { EndpointText, Provider, ProviderText } from '../ports/models/models.ts'
import type { EndpointEntry, ModelEntry, ProviderEntry } from './format.ts'

/** Cohere's own protocol has no form of these; a catalogue may name an address that has. */
const SPEAKS: Readonly<Record<Protocol, readonly TextProtocol[]>> = {
  openai: ['chat'],
  anthropic: ['messages'],
  google: ['gemini'],
  cohere: [],
  local: [],
}
/** Servers that copy its protocol have chat alone. */
const MAKER_SPEAKS: readonly TextProtocol[] = ['chat', 'responses']
/** Slugs of providers that answer 400 to a member that they do not know. */
const STRICT: ReadonlySet<string> = new Set([MAKER, 'mistral'])
/** Google charges an answer whole, also when its connection ends before. */
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

interface Offered {
  readonly entry: EndpointEntry
  readonly provider: Provider
}

/** Null when the model writes no text. */
export function endpointText(model: ModelEntry, { entry, provider }: Offered): EndpointText | null {
  if (!writesText(model) || provider.text === undefined) return null
  return {
    ...provider.text,
    speaks: speaksOf(entry, provider),
    ...(entry.reasoning_field !== undefined && { reasoningField: entry.reasoning_field }),
    ...(model.reasoning?.supported_efforts && { efforts: model.reasoning.supported_efforts }),
    maxCompletionTokens:
      known(entry.max_completion_tokens) ?? known(model.top_provider?.max_completion_tokens),
  }
}

/** A maximum of 0 would bound every answer to nothing: some lists write 0 for "not known". */
function known(tokens: number | null | undefined): number | null {
  return tokens === undefined || tokens === 0 ? null : tokens
}
