import { MAKER } from '../../schemas/models/openai-maker.ts'
import { FIRST_OUTPUT_MS_DEFAULT, STALL_MS_DEFAULT } from '../../schemas/models/provider-limits.ts'
import type { Protocol, LeaveKind, TextProtocol } from '../../schemas/models/protocols.ts'
import type { EndpointText, Provider, ProviderText } from '../ports/models/models.ts'
import type { EndpointEntry, ModelEntry, ProviderEntry } from './format.ts'

/** Protocols of text models by protocol of the provider. Cohere's has none of these, but a catalogue may give an address that supports one. */
const SPEAKS: Readonly<Record<Protocol, readonly TextProtocol[]>> = {
  openai: ['chat'],
  anthropic: ['messages'],
  google: ['gemini'],
  cohere: [],
  local: [],
}
/** The protocols of OpenAI itself; servers that copy it support only chat. */
const MAKER_SPEAKS: readonly TextProtocol[] = ['chat', 'responses']
/** Slugs of providers that answer 400 to a member that they do not know. */
const STRICT: ReadonlySet<string> = new Set([MAKER, 'mistral'])
/** Google charges the whole answer even if the connection ends early. */
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

/** Whether a model outputs text, which is the default when the entry names no outputs. */
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

/** The maximum, or null for 0, which some lists write for "unknown": as a maximum, it would allow no answer. */
function known(tokens: number | null | undefined): number | null {
  return tokens === undefined || tokens === 0 ? null : tokens
}
