import Type, { type Static } from 'typebox'
import { DIMENSIONS_MIN } from './embedding-limits.ts'
import { SESSION_ID_CHARS_MAX } from '../limits/limits.ts'
import { ProviderPreferences } from '../models/preferences.ts'
import { MODEL_OR_PRESET, PresetName } from '../presets/preset-references.ts'
import { Trace } from '../trace.ts'

const Text = Type.String({ minLength: 1 })
/** Token ids are whole and never negative; 2³¹ exceeds every vocabulary. */
const TokenList = Type.Array(Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 }), { minItems: 1 })
const Media = Type.Object({ data: Type.String({ minLength: 1 }), format: Type.Optional(Type.String()) })

export const EmbeddingPart = Type.Union([
  Type.Object({ type: Type.Literal('text'), text: Text }),
  Type.Object({
    type: Type.Literal('image_url'),
    image_url: Type.Object({ url: Type.String({ minLength: 1 }) }),
  }),
  Type.Object({ type: Type.Literal('input_audio'), input_audio: Media }),
  Type.Object({ type: Type.Literal('input_video'), input_video: Media }),
  Type.Object({ type: Type.Literal('input_file'), input_file: Media }),
])
export type EmbeddingPart = Static<typeof EmbeddingPart>

/** Every form of input of §4.3 and B1.3. */
export const EmbeddingInput = Type.Union([
  Text,
  Type.Array(Text, { minItems: 1 }),
  TokenList,
  Type.Array(TokenList, { minItems: 1 }),
  Type.Array(Type.Object({ content: Type.Array(EmbeddingPart, { minItems: 1 }) }), { minItems: 1 }),
])
export type EmbeddingInput = Static<typeof EmbeddingInput>

/** The form of an input: a string, or an array by the type of its elements. */
export type InputKind = 'string' | 'strings' | 'numbers' | 'lists' | 'objects'

/** The first element decides: the schema has checked that all elements of an array have the same type. */
export function kindOf(input: EmbeddingInput): InputKind {
  if (typeof input === 'string') return 'string'
  const [first] = input
  if (typeof first === 'string') return 'strings'
  if (typeof first === 'number') return 'numbers'
  return Array.isArray(first) ? 'lists' : 'objects'
}

export function picturesOf(input: EmbeddingInput): number {
  if (kindOf(input) !== 'objects') return 0
  let pictures = 0
  for (const { content } of input as readonly { readonly content: readonly EmbeddingPart[] }[])
    for (const { type } of content) if (type === 'image_url') pictures += 1
  return pictures
}

/** Body of POST /embeddings. §4.3, B1.3; unknown fields are ignored. */
export const EmbeddingsBody = Type.Object({
  model: Type.Optional(
    Type.String({
      minLength: 1,
      description: `Id of an embedding model, optionally with a variant, or an alias. ${MODEL_OR_PRESET}`,
    }),
  ),
  preset: Type.Optional(PresetName),
  input: EmbeddingInput,
  dimensions: Type.Optional(
    Type.Integer({
      minimum: DIMENSIONS_MIN,
      description: "Length of each vector; the model's default when absent.",
    }),
  ),
  encoding_format: Type.Optional(
    Type.Union([Type.Literal('float'), Type.Literal('base64')], {
      description: 'Encoding of the vectors: numbers (default), or little-endian float32 in base64.',
    }),
  ),
  input_type: Type.Optional(
    Type.String({
      description: "Purpose of the vectors in the provider's terms, such as `query` or `document`.",
    }),
  ),
  provider: Type.Optional(Type.Union([ProviderPreferences, Type.Null()])),
  session_id: Type.Optional(
    Type.String({
      maxLength: SESSION_ID_CHARS_MAX,
      description: 'Groups calls of one conversation; takes precedence over `x-session-id`.',
    }),
  ),
  trace: Type.Optional(Trace),
  user: Type.Optional(
    Type.String({ description: 'Your id for the end user, sent to providers that accept one.' }),
  ),
})
export type EmbeddingsBody = Static<typeof EmbeddingsBody>

const Tokens = Type.Integer({ minimum: 0 })

export const EmbeddingsAnswer = Type.Object({
  object: Type.Literal('list'),
  data: Type.Array(
    Type.Object({
      object: Type.Literal('embedding'),
      index: Type.Integer({ minimum: 0 }),
      embedding: Type.Union([
        Type.Array(Type.Number()),
        Type.String({ description: 'The vector as little-endian float32 in base64.' }),
      ]),
    }),
  ),
  model: Type.String(),
  id: Type.String(),
  usage: Type.Object({
    prompt_tokens: Tokens,
    total_tokens: Tokens,
    cost: Type.Optional(Type.Number({ description: 'USD.' })),
    is_byok: Type.Optional(Type.Boolean()),
  }),
})
export type EmbeddingsAnswer = Static<typeof EmbeddingsAnswer>
