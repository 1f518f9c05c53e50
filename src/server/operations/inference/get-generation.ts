import { ok } from '../../../schemas/failures.ts'
import {
  GenerationAnswer,
  GenerationQuery,
  type GenerationRecord,
} from '../../../schemas/inference/generations.ts'
import { writtenPrice } from '../../../schemas/money/read-prices.ts'
import { inputTokens, outputTokens, usdOfNano } from '../../../schemas/money/costs.ts'
import type { Generation } from '../../ports/inference/generations.ts'
import { defineOperation } from '../define.ts'

/** Statuses as in D3, and 400 for a query without an id. */
export const GENERATION_STATUSES = [400, 402, 403, 404, 429, 500] as const

export const EXAMPLE_GENERATION = 'gen_019a5b0c4e21b1c2d3e4f5a6b7c8d9e0'

/** Reads the record of a call. Source: D2, D3, D32, D33. */
export const getGeneration = defineOperation({
  id: 'generations.read',
  method: 'get',
  path: '/generation',
  tag: 'inference',
  summary: 'Get the usage record of a call',
  description:
    'Tokens, cost and times of a call to a text model, including calls that failed or were abandoned. The record is ' +
    'available two seconds after the call ends. The record does not contain the prompt or the answer.',
  input: { query: GenerationQuery },
  success: { status: 200, body: GenerationAnswer },
  statuses: GENERATION_STATUSES,
  failures: ['generation_unknown', 'store_unavailable'],
  example: { query: { id: EXAMPLE_GENERATION } },
  async run({ key, query }, ports) {
    const { organizationId, workspaceId } = key
    const found = await ports.generations.find({ organizationId, workspaceId, id: query.id })
    if (!found.ok) return found
    return ok({ kind: 'json', value: { data: generationRecord(found.value, ports.publicOrigin) } })
  },
})

/** Members whose values Sluice does not have, or does not store. */
const NOTHING = {
  cache_discount: null,
  moderation_latency: null,
  native_tokens_completion_images: null,
  num_media_completion: null,
  num_search_results: null,
  num_fetches: null,
  app_id: null,
  router: null,
  preset_id: null,
  user_agent: null,
  http_referer: null,
  external_user: null,
  web_search_engine: null,
  provider_responses: null,
} as const

/** Finish reasons of messages and responses, and their equivalents in chat. D5. */
const FINISHES: ReadonlyMap<string, string> = new Map([
  ['completed', 'stop'],
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['max_output_tokens', 'length'],
  ['max_tokens', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
])

/** The record in its wire form. Cached input counts as prompt, and reasoning as completion. D33. */
export function generationRecord(
  { id, createdMs, workspaceId, upstreamId, facts }: Generation,
  origin: string,
): GenerationRecord {
  const { usage, isByok, finishReason, price } = facts
  const [prompt, completion] = [inputTokens(usage), outputTokens(usage)]
  const cost = usdOfNano(facts.chargedNano)
  return {
    id,
    upstream_id: upstreamId,
    model: facts.model,
    provider_name: facts.provider,
    created_at: new Date(createdMs).toISOString(),
    api_type: 'completions',
    origin,
    streamed: facts.isStreamed,
    cancelled: facts.isCancelled,
    finish_reason: finishReason === null ? null : (FINISHES.get(finishReason) ?? finishReason),
    native_finish_reason: finishReason,
    total_cost: cost,
    usage: cost,
    upstream_inference_cost: isByok ? cost : null,
    is_byok: isByok,
    latency: facts.latencyMs,
    generation_time: facts.upstreamMs,
    tokens_prompt: prompt,
    tokens_completion: completion,
    native_tokens_prompt: prompt,
    native_tokens_completion: completion,
    native_tokens_reasoning: usage.reasoning,
    native_tokens_cached: usage.cacheRead,
    num_media_prompt: facts.images,
    num_input_audio_prompt: facts.sounds,
    ...NOTHING,
    service_tier: facts.serviceTier ?? null,
    workspace_id: workspaceId,
    data_region: 'global',
    request_id: facts.requestId,
    session_id: facts.sessionId,
    x: {
      ttft_ms: facts.firstOutputMs,
      stalled_ms: facts.stalledMs,
      is_estimated: facts.isEstimated,
      searches: usage.searches ?? 0,
      attempts: facts.attempts,
      dropped: [...facts.dropped],
      price: price === undefined || price === null ? null : writtenPrice(price),
      unpriced_tier: facts.unpricedTier ?? null,
    },
  }
}
