import { BulkBytes } from '../../../schemas/bodies.ts'
import {
  kindOf,
  picturesOf,
  type EmbeddingPart,
  type InputKind,
} from '../../../schemas/embeddings/embeddings.ts'
import type { EmbeddingsRequest } from '../../ports/embeddings/embeddings.ts'

type Input = EmbeddingsRequest['input']

/** The kind and size of an input, without its contents. */
export interface InputShape {
  readonly kind: InputKind
  readonly count: number
  /** Pictures among its parts. */
  readonly pictures: number
}

const ONE_TEXT: InputShape = { kind: 'string', count: 1, pictures: 0 }
const ONE_TOKEN_LIST: InputShape = { kind: 'numbers', count: 1, pictures: 0 }

export function shapeOf(input: Input): InputShape {
  if (typeof input === 'string') return ONE_TEXT
  const isBulky = input instanceof BulkBytes
  const kind = isBulky ? input.kind : kindOf(input)
  if (kind === 'numbers') return ONE_TOKEN_LIST
  if (isBulky) return { kind, count: input.count, pictures: input.pictures }
  return { kind, count: input.length, pictures: picturesOf(input) }
}

/** The bytes of a large input as JSON, for a body that is sent in parts; null for a small input. */
export function bulkOf(input: Input): Uint8Array | null {
  return input instanceof BulkBytes ? input.json : null
}

/** The value of a small input; null for a large one. */
export function valueOf(input: Input): Exclude<Input, BulkBytes> | null {
  return input instanceof BulkBytes ? null : input
}

const MODALITIES = {
  text: 'text',
  image_url: 'image',
  input_audio: 'audio',
  input_video: 'video',
  input_file: 'file',
} as const satisfies Record<EmbeddingPart['type'], string>

/** Modalities of the input other than text. A large input is not parsed for this: its provider decides. */
export function mediaOf(input: Input): ReadonlySet<string> {
  const media = new Set<string>()
  for (const part of partsOf(input)) if (part.type !== 'text') media.add(MODALITIES[part.type])
  return media
}

/** All parts of a multimodal input; none for every other input. */
export function partsOf(input: Input): readonly EmbeddingPart[] {
  if (typeof input === 'string' || input instanceof BulkBytes) return []
  const parts: EmbeddingPart[] = []
  for (const item of input) {
    if (typeof item !== 'object' || Array.isArray(item)) break
    parts.push(...item.content)
  }
  return parts
}
