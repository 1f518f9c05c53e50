import Type, { type Static } from 'typebox'
import { TIER_MEMBERS, WrittenPrice } from '../models/price-conditions.ts'
import { orNull, TextOrNull } from './text-members.ts'
import { GENERATION_ID_CHARS_MAX } from './inference-limits.ts'

export const GenerationQuery = Type.Object({
  id: Type.String({
    minLength: 1,
    maxLength: GENERATION_ID_CHARS_MAX,
    pattern: '^[^\\u0000]*$',
    title: 'the id of a call',
    description: "The `gen_…` id from the `x-generation-id` header, or the provider's id of the answer.",
  }),
})

const Count = orNull(Type.Integer({ minimum: 0 }))
const Milliseconds = (description: string) =>
  Type.Union([Type.Number({ minimum: 0 }), Type.Null()], { description })
/** Always null: Sluice has no such feature. */
const Never = Type.Null({ description: 'Always null.' })

/** The record of a call, with every member that OpenRouter's client requires. */
export const GenerationRecord = Type.Object({
  id: Type.String({ description: '`gen_…`' }),
  upstream_id: Type.Union([Type.String(), Type.Null()], {
    description: 'Id that the provider gave to the answer.',
  }),
  model: Type.String(),
  provider_name: Type.Union([Type.String(), Type.Null()], {
    description: 'Slug of the provider that answered; null when no provider answered.',
  }),
  created_at: Type.String({ format: 'date-time' }),
  api_type: Type.Literal('completions'),
  origin: Type.String({ description: 'Origin of this Sluice installation.' }),
  streamed: Type.Boolean(),
  cancelled: Type.Boolean({ description: 'True when the caller closed the stream before its end.' }),
  finish_reason: Type.Union([Type.String(), Type.Null()], {
    description:
      'Reason why generation ended, with the values of chat completions. `error` when the answer was cut off; null when the caller disconnected.',
  }),
  native_finish_reason: Type.Union([Type.String(), Type.Null()], {
    description: 'Reason why generation ended, as reported by the provider.',
  }),
  total_cost: Type.Number({ description: 'USD charged for the call.' }),
  usage: Type.Number({ description: 'USD charged for the call; equals `total_cost`.' }),
  upstream_inference_cost: Type.Union([Type.Number(), Type.Null()], {
    description: "USD charged by the provider to the workspace's own key.",
  }),
  cache_discount: Never,
  is_byok: Type.Boolean(),
  latency: Milliseconds('Milliseconds from the request to the end of the answer.'),
  generation_time: Milliseconds('Milliseconds taken by the attempt that was delivered.'),
  moderation_latency: Never,
  tokens_prompt: Count,
  tokens_completion: Count,
  native_tokens_prompt: Count,
  native_tokens_completion: Count,
  native_tokens_reasoning: Count,
  native_tokens_cached: Count,
  native_tokens_completion_images: Never,
  num_media_prompt: Count,
  num_media_completion: Never,
  num_input_audio_prompt: Count,
  num_search_results: Never,
  num_fetches: Never,
  app_id: Never,
  router: Never,
  preset_id: Never,
  service_tier: Type.Union([Type.String(), Type.Null()], {
    description: 'Service tier reported by the provider; null when the provider reports none.',
  }),
  user_agent: Never,
  http_referer: Never,
  external_user: Never,
  web_search_engine: Never,
  workspace_id: Type.String({ format: 'uuid' }),
  provider_responses: Never,
  data_region: Type.Literal('global'),
  request_id: Type.String(),
  session_id: TextOrNull,
  x: Type.Object({
    ttft_ms: Milliseconds(
      'Milliseconds until the first output was written to the caller; null when no output was written or the call was not streamed.',
    ),
    stalled_ms: Type.Number({
      minimum: 0,
      description: 'Milliseconds spent waiting for the caller to read.',
    }),
    is_estimated: Type.Boolean({ description: 'True when Sluice estimated the token counts.' }),
    searches: Type.Integer({ minimum: 0, description: 'Number of web searches reported by the provider.' }),
    attempts: Type.Integer({ minimum: 0, description: 'Number of endpoints that were tried.' }),
    dropped: Type.Array(Type.String(), {
      description: 'Fields of the request that were not sent to the provider or have no effect.',
    }),
    price: Type.Union([WrittenPrice, Type.Null()]),
    unpriced_tier: Type.Union([Type.Enum(TIER_MEMBERS), Type.Null()], {
      description:
        'Field of the answer that reports a tier, speed or region without a price in the catalogue; the usual price was charged.',
    }),
  }),
})
export type GenerationRecord = Static<typeof GenerationRecord>

export const GenerationAnswer = Type.Object({ data: GenerationRecord })

/** The prefix, 12 hexadecimal digits of the millisecond, and 20 random digits. */
const ID = /^gen_([0-9a-f]{12})[0-9a-f]{20}$/

/** Unix milliseconds at which an id was made; null: not an id made by Sluice. */
export function generationMsOf(id: string): number | null {
  const digits = ID.exec(id)?.[1]
  return digits === undefined ? null : Number.parseInt(digits, 16)
}
