import { BulkBytes } from '../../schemas/bodies.ts'
import type { EmbeddingsRequest } from '../ports/embeddings/embeddings.ts'
import { partsOf, type InputShape } from './input-shape.ts'

type Input = EmbeddingsRequest['input']

export interface JudgedUsage {
  readonly promptTokens: number
  readonly totalTokens: number
  /** Ours, since the provider's figures were missing or impossible. Design §6.4. */
  readonly isEstimated: boolean
}

/**
 * The usual share of a token in text in bytes, which holds for every script; and what a token takes as a
 * number in JSON.
 */
const UNITS_PER_TOKEN = 4
const JSON_BYTES_PER_TOKEN_ID = 5
/** A medium-sized picture with most providers. */
const TOKENS_PER_MEDIA = 1_024
/** No text or list of tokens in a body of 32 MiB has more: such a figure is no count but a mistake. */
const TOKENS_MAX = 2 ** 26
/** Of pictures and the like, which may stand elsewhere. */
const MEDIA_TOKENS_MAX = 2 ** 31

/**
 * Takes the provider's figures when they can be meant, else ours. More than the call's bound is meant: that
 * is charged, and the rest becomes an overrun.
 * @param contextLength of the endpoint: more than that an estimate never is
 */
export function judgeUsage(
  claimed: { readonly promptTokens: number | null; readonly totalTokens: number | null },
  input: Input,
  more: { readonly shape: InputShape; readonly contextLength: number | null },
): JudgedUsage {
  const { promptTokens, totalTokens } = claimed
  const most = more.shape.kind === 'objects' ? MEDIA_TOKENS_MAX : TOKENS_MAX
  if (promptTokens === null || !isCount(promptTokens) || promptTokens > most) {
    const estimate = estimateTokens(input, more)
    return { promptTokens: estimate, totalTokens: estimate, isEstimated: true }
  }
  const isTotalSound = totalTokens !== null && isCount(totalTokens) && totalTokens >= promptTokens
  return { promptTokens, totalTokens: isTotalSound ? totalTokens : promptTokens, isEstimated: false }
}

function isCount(tokens: number): boolean {
  return Number.isSafeInteger(tokens) && tokens >= 0 && tokens <= MEDIA_TOKENS_MAX
}

/** Tokens that an input usually has, at least 1; an estimate, where nobody has counted them. */
export function estimateTokens(
  input: Input,
  { shape, contextLength }: { shape: InputShape; contextLength: number | null },
): number {
  const most = contextLength === null ? Infinity : contextLength * shape.count
  return Math.max(1, Math.min(most, Math.ceil(guess(input, shape))))
}

function guess(input: Input, { kind, count }: InputShape): number {
  switch (kind) {
    case 'string':
    case 'strings':
      return unitsOf(input) / UNITS_PER_TOKEN
    case 'numbers':
      return unitsOf(input)
    case 'lists':
      return input instanceof BulkBytes ? input.json.length / JSON_BYTES_PER_TOKEN_ID : unitsOf(input)
    case 'objects': {
      if (input instanceof BulkBytes) return count * TOKENS_PER_MEDIA
      return partsOf(input).reduce(
        (sum, part) =>
          sum + (part.type === 'text' ? Buffer.byteLength(part.text) / UNITS_PER_TOKEN : TOKENS_PER_MEDIA),
        0,
      )
    }
    default:
      return kind satisfies never
  }
}

/** Bytes of texts, ids of token lists; of a bulky input its bytes, or the ids of its one list. */
function unitsOf(input: Input): number {
  if (typeof input === 'string') return Buffer.byteLength(input)
  if (input instanceof BulkBytes) return input.kind === 'numbers' ? input.count : input.json.length
  let units = 0
  for (const item of input)
    units += typeof item === 'string' ? Buffer.byteLength(item) : Array.isArray(item) ? item.length : 1
  return units
}
