import type { TagName } from '../../../operations/tags.ts'
import { INFERENCE_TEXTS, PRESET_TEXTS, SAMPLING_TEXTS } from './inference-texts.ts'
import * as managing from './managing-texts.ts'
import { ADMIN_TEXTS, AUDIT_TEXTS, MAPPING_TEXTS, SCIM_TEXTS } from './managing-texts.ts'

const MODEL_TEXTS: Readonly<Record<string, string>> = {
  ...SAMPLING_TEXTS,
  id: 'Id of the model.',
  name: 'Display name of the model.',
  'alias_target.name': 'Display name of the model that the alias stands for.',
  'alias_target.slug': 'Id of the model that the alias stands for.',
  'endpoints.name': 'Display name of the endpoint.',
  'providers.list:name': 'Display name of the provider.',
  'endpoints.list_zdr:name': 'Display name of the endpoint.',
  description: 'Description of the model.',
  object: "Object type in OpenAI's format.",
  created: 'Unix time of the release, in seconds; 0 when unknown.',
  canonical_slug: 'Id of the model without a variant.',
  hugging_face_id: 'Id of the weights on Hugging Face.',
  context_length: 'Maximum number of tokens in prompt and output together; null when unknown.',
  architecture: 'Input and output types of the model.',
  modality: 'Input and output types as one string, such as `text+image->text`.',
  input_modalities: 'Input types.',
  output_modalities: 'Output types.',
  tokenizer: 'Family of the tokenizer.',
  instruct_type: 'Instruction template that the model was trained with; null when unknown.',
  'pricing.discount': 'Always 0 or absent, because prices already include discounts.',
  top_provider: 'Details of the endpoint that is tried first.',
  is_moderated: 'True when the provider moderates content before the model receives it.',
  max_completion_tokens: 'Maximum number of output tokens; null when unknown.',
  max_prompt_tokens: 'Maximum number of prompt tokens; null when unknown.',
  supported_parameters: 'Request parameters that at least one endpoint of the model supports.',
  supported_voices: 'Voices of a speech model; null for other models.',
  default_parameters: 'Default values of parameters that a call omits; null when unknown.',
  per_request_limits: 'Token limits for a single request; null when the model has none.',
  'per_request_limits.prompt_tokens': 'Maximum number of prompt tokens in one request.',
  'per_request_limits.completion_tokens': 'Maximum number of output tokens in one request.',
  expiration_date: 'Day on which the model is withdrawn; null when no withdrawal is announced.',
  knowledge_cutoff: 'Last day covered by the training data; null when unknown.',
  alias_target: 'The model that the alias stands for.',
  benchmarks: 'Benchmark scores, by which lists of models can be sorted and filtered.',
  intelligence_index: 'Score on general tasks.',
  coding_index: 'Score on programming tasks.',
  agentic_index: 'Score on tasks with many steps and tools.',
  tool_success_rate: 'Share of successful tool calls, from 0 to 1.',
  design_arena_elo: 'Elo rating for design tasks.',
  reasoning: 'Reasoning support of the model; null when the model does not reason.',
  'reasoning.mandatory': 'True when reasoning cannot be turned off.',
  'reasoning.default_enabled': 'True when the model reasons unless the call disables reasoning.',
  'reasoning.default_effort': 'Reasoning effort used when a call does not specify an effort.',
  'reasoning.supported_efforts': 'Reasoning efforts that a call may request.',
  'reasoning.supports_max_tokens': 'True when a call may limit the reasoning tokens.',
  endpoints: 'Endpoints of the model, in catalogue order.',
  'endpoints.status': 'State of the endpoint; below 0 while it is failing.',
  'endpoints.list_zdr:status': 'State of the endpoint; below 0 while it is failing.',
  model_id: 'Id of the model.',
  model_name: 'Display name of the model.',
  provider_name: 'Slug of the provider.',
  tag: 'Provider and variant of the endpoint, as one string.',
  quantization: 'Number format of the weights; null when unknown.',
  supports_implicit_caching: 'True when the provider caches prompts automatically.',
  supports_tool_choice: 'Values of `tool_choice` that the endpoint supports.',
  'supports_tool_choice.auto': 'True when the model may decide whether to call a tool.',
  'supports_tool_choice.function': 'True when a call may choose the tool.',
  'supports_tool_choice.none': 'True when a call may forbid tools.',
  'supports_tool_choice.required': 'True when a request can force the model to call a tool.',
  uptime_last_5m: 'Share of successful calls in the last 5 minutes; null when not measured.',
  uptime_last_30m: 'Share of successful calls in the last 30 minutes; null when not measured.',
  uptime_last_1d: 'Share of successful calls in the last day; null when not measured.',
  latency_last_30m:
    'Milliseconds to the first output, measured over the last 30 minutes; null when not measured.',
  throughput_last_30m: 'Output tokens per second in the last 30 minutes; null when not measured.',
  p50: 'Median.',
  p75: '75th percentile.',
  p90: '90th percentile.',
  p99: '99th percentile.',
  links: 'Paths of related answers.',
  'models.count:count': 'Number of models that match.',
}

/** Members that all kinds of calls to models have in common: which endpoint serves a call, and how it is traced. */
export const CALL_TEXTS: Readonly<Record<string, string>> = {
  'answer:model': 'Id of the model that answered.',
  'body:provider':
    'Rules for the endpoints of the call: which may serve it, and in which order they are tried.',
  'answer:provider': 'Slug of the provider that answered.',
  'provider.allow_fallbacks': 'Set to false to try only the first endpoint.',
  'provider.require_parameters':
    'Set to true to use only endpoints that support every parameter of the request.',
  'provider.data_collection': '`deny` uses only endpoints whose provider does not store content.',
  'provider.zdr': 'Set to true to use only endpoints that declare zero data retention.',
  'provider.enforce_distillable_text':
    'Set to true to use only endpoints whose output may be used to train models.',
  'provider.order': 'Slugs of the providers to try first, in this order.',
  'provider.only': 'Slugs of the only providers that may be used.',
  'provider.ignore': 'Slugs of providers that must not be used.',
  'provider.quantizations': 'Allowed number formats of the model weights.',
  'provider.sort': 'Sort key for the endpoints, or an object with the key and the grouping.',
  'sort.by': 'Sort key for the endpoints.',
  'sort.partition':
    '`model` tries all endpoints of one model before the endpoints of the next model; `none` sorts all endpoints together.',
  'provider.max_price': 'The highest price that an endpoint may have.',
  'provider.preferred_max_latency':
    'Preferred maximum of the seconds to the first output. Slower endpoints are tried last. A single number is compared with the median.',
  'provider.preferred_min_throughput':
    'Preferred minimum of output tokens per second. Slower endpoints are tried last. A single number is compared with the median.',
  p50: 'Median.',
  p75: '75th percentile.',
  p90: '90th percentile.',
  p99: '99th percentile.',
  trace: 'Tracing metadata. Additional fields of `trace` are sent to the URL in `SLUICE_BROADCAST`.',
  'trace.trace_id': 'Id of the trace that the call belongs to.',
  'trace.trace_name': 'Name of the trace.',
  'trace.span_name': 'Name of the span for this call.',
  'trace.generation_name': 'Name of the generation.',
  'trace.parent_span_id': 'Id of the parent span.',
  usage: 'Token counts and the cost of the call.',
  prompt_tokens: 'Tokens in the prompt.',
  total_tokens: 'Tokens in the prompt and the output together.',
  is_byok: "True when the call used the workspace's own provider key.",
  index: 'Position in the list, starting at 0.',
}

const EMBEDDING_TEXTS: Readonly<Record<string, string>> = {
  id: 'Id of the call, as in the header `x-generation-id`.',
  input: 'A text, a list of texts, token ids, or a list of content parts: one vector for each item.',
  content: 'Parts of one input, embedded together as one vector.',
  type: 'Type of the content part.',
  text: 'The text to embed.',
  object: "Object type in OpenAI's format.",
  'answer:data': 'The vectors, in the order of the inputs.',
  'answer:embedding': 'The vector: numbers, or little-endian float32 in base64.',
  image_url: 'An image given by its URL.',
  url: 'HTTPS URL, or the content as a `data:` URL.',
  input_audio: 'An audio clip.',
  input_video: 'A video clip.',
  input_file: 'A document.',
  'input_audio.data': 'Content of the file in base64.',
  'input_video.data': 'Content of the file in base64.',
  'input_file.data': 'Content of the file in base64.',
  'input_audio.format': 'File format of the audio, such as `mp3`.',
  'input_video.format': 'File format of the video, such as `mp4`.',
  'input_file.format': 'File format of the document, such as `pdf`.',
}

const VIDEO_TEXTS: Readonly<Record<string, string>> = {
  id: 'Id of the video job.',
  'video.list_models:id': 'Id of the model.',
  'video.list_models:name': 'Display name of the model.',
  'video.list_models:description': 'Description of the model.',
  'video.list_models:seed': 'True when the model accepts a seed.',
  canonical_slug: 'Id of the model without a variant.',
  hugging_face_id: 'Id of the weights on Hugging Face.',
  status: 'State of the job.',
  generation_id: 'Id of the usage record of the call, for `GET /generation`.',
  usage: 'Cost of the job.',
  'body:aspect_ratio': 'Ratio of width to height, such as `16:9`.',
  'body:resolution': 'Resolution of the video, such as `720p`.',
  type: 'Type of the reference, such as `image_url`.',
  image_url: 'An image given by its URL.',
  audio_url: 'An audio clip given by its URL.',
  video_url: 'A video clip given by its URL.',
  url: 'HTTPS URL, or the content as a `data:` URL.',
  upscale_factor: 'Factors by which the model can enlarge a video; null if it cannot enlarge videos.',
  'upscale_factor.min': 'Smallest factor.',
  'upscale_factor.max': 'Largest factor.',
}

/**
 * Descriptions of the members of one subject. A key is the name of a member, or `parent.name` for that member
 * alone. It may have a prefix: `body:`, `answer:`, or the id of an operation, as in `keys.get:name`.
 */
export type Texts = Readonly<Record<string, string>>

/** The place of a member: a text describes the member at this place, not every member of that name. */
export interface Place {
  readonly subject: TagName | 'error' | 'webhook'
  /** Id of the operation; the name of a webhook or an error. */
  readonly operation: string
  readonly side: 'body' | 'answer'
}

/** Members that mean the same in each subject. */
export const COMMON_TEXTS: Texts = {
  data: 'The result.',
  deleted: 'Always true: the object is deleted.',
  has_more: 'True when another page follows.',
  total_count: 'Number of objects that match, on all pages.',
  first_id: 'Id of the first entry on this page; null when the page is empty.',
  last_id: 'Id of the last entry on this page, for `after`; null when the page is empty.',
  request_id: 'Id of the request, as in the header `x-request-id`.',
  organization_id: 'Id of the organization that owns the object.',
}

export const ERROR_TEXTS: Texts = {
  error: 'The error.',
  'error.message': 'The problem, with the allowed values or the fix.',
  'error.metadata': 'Machine-readable facts about the error.',
  type: 'Always `error`.',
  issues: 'The invalid inputs.',
  'issues.path': 'JSON Pointer to the invalid field.',
  'issues.message': 'Problem with the input.',
  'issues.expected': 'Allowed values.',
  sluice_metadata: 'Reserved for future use: null, or an object.',
}

export const WEBHOOK_TEXTS: Texts = {
  id: 'Id of the video job.',
  type: 'Type of the event.',
  created_at: 'When the event was created.',
  'data.created_at': 'When the job was submitted.',
  data: 'The job.',
  status: 'Final state of the job.',
  model: 'Id of the model.',
  generation_id: 'Id of the usage record of the job, for `GET /generation`.',
  error: 'Reason why the job failed; null if it did not fail.',
  usage: 'Cost of the job.',
  unsigned_urls: 'URLs of the clips; downloading a clip requires an API key.',
}

/** The texts of each subject, the most specific first. */
export const SUBJECT_TEXTS: Readonly<Record<Place['subject'], readonly Texts[]>> = {
  inference: [INFERENCE_TEXTS, CALL_TEXTS],
  presets: [PRESET_TEXTS, INFERENCE_TEXTS, CALL_TEXTS],
  embeddings: [EMBEDDING_TEXTS, CALL_TEXTS],
  videos: [VIDEO_TEXTS, CALL_TEXTS],
  models: [MODEL_TEXTS],
  files: [managing.FILE_TEXTS],
  containers: [managing.FILE_TEXTS],
  keys: [managing.KEY_TEXTS],
  workspaces: [managing.WORKSPACE_TEXTS],
  interns: [managing.INTERN_TEXTS],
  vault: [managing.VAULT_TEXTS],
  byok: [],
  'private-endpoints': [managing.ENDPOINT_TEXTS],
  budgets: [managing.BUDGET_TEXTS],
  credits: [managing.CREDIT_TEXTS],
  activity: [managing.ACTIVITY_TEXTS],
  audit: [AUDIT_TEXTS],
  admin: [ADMIN_TEXTS],
  'group-mappings': [MAPPING_TEXTS],
  scim: [SCIM_TEXTS],
  egress: [],
  error: [ERROR_TEXTS],
  webhook: [WEBHOOK_TEXTS],
}

/** Typed loosely: operations in tests may have other subjects. */
const TABLES: Readonly<Record<string, readonly Texts[]>> = SUBJECT_TEXTS

export interface FoundText {
  readonly table: Texts
  readonly key: string
  readonly text: string
}

/**
 * The description of a member at its place; undefined when no table has one.
 * @param owner name of the member that contains this one; empty at the top
 */
export function memberText(name: string, owner: string, place: Place): FoundText | undefined {
  const keys = [`${owner}.${name}`, name].flatMap((key) => [
    `${place.operation}:${key}`,
    `${place.side}:${key}`,
    key,
  ])
  for (const table of [...(TABLES[place.subject] ?? []), COMMON_TEXTS])
    for (const key of keys) {
      const text = table[key]
      if (text !== undefined) return { table, key, text }
    }
  return undefined
}
