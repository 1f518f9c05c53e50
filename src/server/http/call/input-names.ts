import type { TSchema } from 'typebox'
import { BODIES } from '../../../schemas/bodies.ts'
import { SchemaNames } from '../../../schemas/requests/schema-names.ts'
import { OPERATIONS } from '../../operations/index.ts'

/** Names in issues about headers and about forms with a file, which are in no schema. */
const OF_FORMS = [
  'content-type',
  'range',
  'file',
  'filename',
  'purpose',
  'expires_after',
  'anchor',
  'seconds',
]
/** Members of parts and tools in conversations; the schemas contain only their types. */
const OF_PARTS = [
  ...['image', 'image_url', 'input_image', 'input_audio', 'input_file', 'video_url', 'document'],
  ...['source', 'url', 'data', 'format', 'media_type', 'file_id', 'file_data', 'file_url', 'detail'],
  ...[
    'arguments',
    'output',
    'tool_use_id',
    'call_id',
    'definition',
    'parameters',
    'cache_control',
    'max_uses',
  ],
]

let known: SchemaNames | null = null

/** The names of all inputs of the API; built when the first call fails, which takes some milliseconds. */
export function inputNames(): SchemaNames {
  known ??= new SchemaNames(inputSchemas(), [
    ...OF_FORMS,
    ...OF_PARTS,
    ...OPERATIONS.flatMap(({ input }) => input.headers ?? []),
  ])
  return known
}

function inputSchemas(): readonly TSchema[] {
  const bodies = Object.values(BODIES).map(({ schema }) => schema)
  const others = OPERATIONS.flatMap(({ input: { params, query } }) => [params, query])
  return [...bodies, ...others.filter((schema) => schema !== undefined)]
}
