import { readFileSync } from 'node:fs'
import t from 'tap'
import { EMBEDDINGS_BODY_BYTES_MAX } from '../../src/schemas/embeddings/embedding-limits.ts'
import { ACTIVE_ENDPOINTS_MAX, PRIVATE_ENDPOINTS_MAX } from '../../src/schemas/endpoints/endpoint-limits.ts'
import {
  CONTAINER_KEPT_MS,
  CONTAINER_PATH_BYTES_MAX,
  FILE_BYTES_MAX,
  FILENAME_CHARS_MAX,
  PATH_SEGMENTS_MAX,
  STORAGE_QUOTA_BYTES_DEFAULT,
} from '../../src/schemas/files/file-limits.ts'
import {
  CHOICES_MAX,
  FALLBACK_MODELS_MAX,
  FETCHED_MEDIUM_BYTES_MAX,
  INFERENCE_BODY_BYTES_MAX,
  INFERENCE_DEADLINE_MS,
  INFERENCE_DEPTH_MAX,
  INLINE_FILE_BYTES_MAX,
  INLINE_FILES_MAX,
  MESSAGES_MAX,
  STOPS_MAX,
  TOOLS_MAX,
} from '../../src/schemas/inference/inference-limits.ts'
import {
  STREAM_BYTES_MAX,
  STREAM_EVENT_BYTES_MAX,
  STREAM_MS_MAX,
} from '../../src/schemas/inference/stream-limits.ts'
import {
  IDEMPOTENCY_KEPT_MS,
  IDEMPOTENCY_KEY_CHARS_MAX,
} from '../../src/schemas/limits/idempotency-limits.ts'
import {
  HEADERS_BYTES_MAX,
  JSON_BODY_BYTES_MAX,
  JSON_DEPTH_MAX,
  LIST_PAGE_BYTES_MAX,
} from '../../src/schemas/limits/limits.ts'
import { FIRST_OUTPUT_MS_DEFAULT, STALL_MS_DEFAULT } from '../../src/schemas/models/provider-limits.ts'
import { PRESET_BYTES_MAX } from '../../src/schemas/presets/preset-limits.ts'
import { readableBytes, readableCount } from '../../src/schemas/values/readable.ts'
import {
  VIDEO_CLIP_BYTES_MAX,
  VIDEO_CLIPS_MAX,
  VIDEO_PROMPT_CHARS_MAX,
} from '../../src/schemas/videos/video-limits.ts'
import { CAPS_DEFAULT } from '../../src/schemas/operator/caps.ts'
import { ROOT } from '../support/source.ts'

const seconds = (ms: number): string => `${readableCount(ms / 1_000)} s`

/** What a row of the page says first, by its name. */
const ROWS: Readonly<Record<string, string>> = {
  'headers of a request': readableBytes(HEADERS_BYTES_MAX),
  'body of a call to a model': readableBytes(INFERENCE_BODY_BYTES_MAX),
  'body of any other call': readableBytes(JSON_BODY_BYTES_MAX),
  'JSON nesting depth of a call to a model': readableCount(INFERENCE_DEPTH_MAX),
  'JSON nesting depth of any other call': readableCount(JSON_DEPTH_MAX),
  'length of an `Idempotency-Key`': `${IDEMPOTENCY_KEY_CHARS_MAX} characters`,
  'lifetime of an `Idempotency-Key`': `${IDEMPOTENCY_KEPT_MS / 3_600_000} hours`,
  'size of a page of a list': readableBytes(LIST_PAGE_BYTES_MAX),
  'messages in a conversation': readableCount(MESSAGES_MAX),
  'tools in a call': readableCount(TOOLS_MAX),
  'fallback models of a call (`models`)': readableCount(FALLBACK_MODELS_MAX),
  'answers to one call (`n`)': readableCount(CHOICES_MAX),
  'stop sequences of a call': readableCount(STOPS_MAX),
  'stored files in one request': readableCount(INLINE_FILES_MAX),
  'size of a file in a request, or of an image sent by URL': readableBytes(INLINE_FILE_BYTES_MAX),
  'time until the first output of a provider': seconds(FIRST_OUTPUT_MS_DEFAULT),
  'time between two events of a stream': seconds(STALL_MS_DEFAULT),
  'time for a whole answer': seconds(INFERENCE_DEADLINE_MS),
  'duration of a stream': seconds(STREAM_MS_MAX),
  'size of a stream': readableBytes(STREAM_BYTES_MAX),
  'size of a stream event': readableBytes(STREAM_EVENT_BYTES_MAX),
  'size of an uploaded file or a container file': readableBytes(FILE_BYTES_MAX),
  'total size of the files of a workspace': readableBytes(STORAGE_QUOTA_BYTES_DEFAULT),
  'length of a file name': `${FILENAME_CHARS_MAX} characters`,
  'length of the path of a container file': `${CONTAINER_PATH_BYTES_MAX} bytes in ${PATH_SEGMENTS_MAX} segments`,
  'time until an unused container is deleted': `${CONTAINER_KEPT_MS / 86_400_000} days`,
  'length of a video prompt': `${readableCount(VIDEO_PROMPT_CHARS_MAX)} characters`,
  'clips of a video job': readableCount(VIDEO_CLIPS_MAX),
  'size of a clip': readableBytes(VIDEO_CLIP_BYTES_MAX),
  'workspaces of an organization': readableCount(CAPS_DEFAULT.workspaces),
  'API keys of an organization': readableCount(CAPS_DEFAULT.api_keys),
  '[interns](glossary.md#intern) of an organization': readableCount(CAPS_DEFAULT.interns),
  'attachable vaults of an organization': readableCount(CAPS_DEFAULT.vaults),
  'secrets in attachable vaults': readableCount(CAPS_DEFAULT.secrets),
  'private endpoints of an organization': readableCount(PRIVATE_ENDPOINTS_MAX),
  'active private endpoints of a workspace': readableCount(ACTIVE_ENDPOINTS_MAX),
  'size of a preset': readableBytes(PRESET_BYTES_MAX),
}

t.test('the page of limits has the numbers that the code has', async (t) => {
  const page = readFileSync(`${ROOT}docs/use/limits-at-a-glance.md`, 'utf8')
  for (const [name, value] of Object.entries(ROWS)) {
    const cell = page.split('\n').find((line) => line.startsWith(`| ${name} | `))
    const limit = cell?.split(' | ')[1]?.replace(/ \|$/, '') ?? ''
    t.ok(
      limit === value || limit.startsWith(`${value},`) || limit.startsWith(`${value} `),
      `${name}: ${limit}, not ${value}`,
    )
  }
  t.equal(EMBEDDINGS_BODY_BYTES_MAX, INFERENCE_BODY_BYTES_MAX)
  t.equal(FETCHED_MEDIUM_BYTES_MAX, INLINE_FILE_BYTES_MAX)
})
