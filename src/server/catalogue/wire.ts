import { API_PREFIX } from '../../schemas/api-prefix.ts'
import type { Model, ModelEndpoint, Pricing } from '../../schemas/models/models.ts'
import type { PriceModifier } from '../../schemas/models/price-conditions.ts'
import type { Provider } from '../ports/models/models.ts'
import type { EndpointEntry, ModelEntry } from './format.ts'

/**
 * One endpoint of a model under one id, plain or with a variant's suffix: the source of both the wire form
 * and the form of the port `ModelCatalogue`.
 */
export interface Offer {
  readonly entry: EndpointEntry
  readonly provider: Provider
  readonly pricing: Pricing
  readonly modifiers: readonly PriceModifier[]
  readonly isFree: boolean
  readonly isUnpriced: boolean
  /** Absent: the tag of the entry. */
  readonly tag?: string
}

/** A model under one of its ids, with everything that its replies need. */
export interface Shown {
  readonly id: string
  readonly entry: ModelEntry
  readonly pricing: Pricing
  readonly offers: readonly Offer[]
}

/** Unix seconds; 0 when the catalogue has no date. A date means the start of its day in UTC. */
function createdOf(entry: ModelEntry): number {
  const { created = 0 } = entry
  return typeof created === 'number' ? created : Date.parse(`${created}T00:00:00Z`) / 1000
}

/**
 * Architecture of a model: text input and text output by default. The arrow form is computed, so that it
 * always agrees with the lists.
 */
function architectureOf(entry: ModelEntry): Model['architecture'] {
  const { tokenizer, instruct_type = null, ...modalities } = entry.architecture ?? {}
  const { input_modalities: inputs = ['text'], output_modalities: outputs = ['text'] } = modalities
  const { modality = `${inputs.join('+')}->${outputs.join('+')}` } = modalities
  return {
    modality,
    input_modalities: inputs,
    output_modalities: outputs,
    ...(tokenizer === undefined ? {} : { tokenizer }),
    instruct_type,
  }
}

/** Wire form of a model: a nullable member is always present, an optional member only if the file contains it. */
export function wireModel({ id, entry, pricing, offers }: Shown): Model {
  const { context_length = null } = entry
  return {
    id,
    canonical_slug: entry.canonical_slug ?? entry.id,
    name: entry.name,
    ...(entry.description === undefined ? {} : { description: entry.description }),
    created: createdOf(entry),
    context_length,
    architecture: architectureOf(entry),
    pricing,
    ...extensionOf(offers[0]?.modifiers ?? []),
    top_provider: {
      is_moderated: entry.top_provider?.is_moderated ?? false,
      context_length: entry.top_provider?.context_length ?? context_length,
      max_completion_tokens: entry.top_provider?.max_completion_tokens ?? null,
    },
    supported_parameters: entry.supported_parameters ?? [],
    supported_voices: entry.supported_voices ?? null,
    default_parameters: entry.default_parameters ?? null,
    per_request_limits: entry.per_request_limits ?? null,
    ...(entry.hugging_face_id === undefined ? {} : { hugging_face_id: entry.hugging_face_id }),
    expiration_date: entry.expiration_date ?? null,
    knowledge_cutoff: entry.knowledge_cutoff ?? null,
    links: { details: `${API_PREFIX}/models/${id}/endpoints` },
    ...(entry.benchmarks === undefined ? {} : { benchmarks: entry.benchmarks }),
    ...(entry.reasoning === undefined ? {} : { reasoning: entry.reasoning }),
  }
}

/** Body of GET /models/{model}: OpenAI's clients recognize a model by `object` and `owned_by`. */
export function bareModel(model: Model): object {
  return { ...model, object: 'model', owned_by: model.id.slice(0, model.id.indexOf('/')) }
}

/** Body of GET /models/{author}/{slug}/endpoints. */
export function wireEndpoints(shown: Shown): object {
  const { id, entry } = shown
  return {
    data: {
      id,
      name: entry.name,
      created: createdOf(entry),
      description: entry.description ?? '',
      // In this list, unlike in other replies, clients require the member.
      architecture: { tokenizer: null, ...architectureOf(entry) },
      endpoints: shown.offers.map((offer) => wireEndpoint(shown, offer)),
    },
  }
}

/** The endpoints of a model that declare zero data retention. */
export function zdrEndpoints(shown: Shown): readonly ModelEndpoint[] {
  return shown.offers.filter(({ entry }) => entry.zdr === true).map((offer) => wireEndpoint(shown, offer))
}

function wireEndpoint({ id, entry: model }: Shown, offer: Offer): ModelEndpoint {
  const { entry, provider, pricing, modifiers, tag = tagOf(entry) } = offer
  return {
    name: `${provider.name} | ${id}`,
    model_id: id,
    model_name: model.name,
    provider_name: provider.name,
    tag,
    context_length: entry.context_length ?? model.context_length ?? 0,
    quantization: entry.quantization ?? null,
    max_completion_tokens: entry.max_completion_tokens ?? model.top_provider?.max_completion_tokens ?? null,
    max_prompt_tokens: entry.max_prompt_tokens ?? null,
    pricing,
    ...extensionOf(modifiers),
    supported_parameters: entry.supported_parameters ?? model.supported_parameters ?? [],
    supports_implicit_caching: entry.supports_implicit_caching ?? false,
    supports_tool_choice: entry.supports_tool_choice ?? NO_TOOL_CHOICE,
    // Null means "not measured": a catalogue file has no measurements, and one front's figures would not represent the others.
    uptime_last_5m: null,
    uptime_last_30m: null,
    uptime_last_1d: null,
    latency_last_30m: null,
    throughput_last_30m: null,
    status: 0,
  }
}

/** An extension, since `pricing` has OpenRouter's form. */
function extensionOf(modifiers: readonly PriceModifier[]): Pick<Model, 'x'> {
  return modifiers.length === 0 ? {} : { x: { modifiers: [...modifiers] } }
}

const NO_TOOL_CHOICE = { auto: false, function: false, none: false, required: false }

/** The name of an endpoint in preferences and logs; unique within a model. */
export function tagOf(entry: EndpointEntry): string {
  return `${entry.provider}/${entry.upstream_model}`
}
