/** Members that calls to models of every kind share: which endpoint serves a call, and how it is traced. */
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

/** Members of calls that make vectors. */
export const EMBEDDING_TEXTS: Readonly<Record<string, string>> = {
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

/** Members of video jobs, and of the models that make videos. */
export const VIDEO_TEXTS: Readonly<Record<string, string>> = {
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
