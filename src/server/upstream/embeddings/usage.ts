import { BulkBytes } from '../../../schemas/bodies.ts'
import type { EmbeddingsRequest } from '../../ports/embeddings/embeddings.ts'
import { partsOf, type InputShape } from './input-shape.ts'

type Input = EmbeddingsRequest['input']

export interface JudgedUsage {
  readonly promptTokens: number
  readonly totalTokens: number
  /** True when Sluice estimated the figures, since the provider's were missing or impossible. Design §6.4. */
  readonly isEstimated: boolean
}

/** Usual bytes of text in a token, in every script. */
const UNITS_PER_TOKEN = 4
/** Usual bytes of a token id in JSON. */
const JSON_BYTES_PER_TOKEN_ID = 5
/** Tokens of a medium-sized picture at most providers. */
const TOKENS_PER_MEDIA = 1_024
/** Tokens that a text or a token list in a body of 32 MiB can have at most: a higher figure counts as a mistake. */
const TOKENS_MAX = 2 ** 26
/** Tokens that media can have at most; media need not be part of the body. */
const MEDIA_TOKENS_MAX = 2 ** 31

/**
 * Uses the provider's figures when they are plausible, otherwise an estimate. A figure above the call's bound is
 * plausible: the call pays its bound, and the rest becomes an overrun.
 * @param more.contextLength context of the endpoint; no estimate exceeds it
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

/** Tokens that an input usually has, at least 1; the estimate when no provider has counted them. */
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

/** Units of an input: bytes of texts, ids of token lists; for a large input its bytes, or the ids of its one list. */
function unitsOf(input: Input): number {
  if (typeof input === 'string') return Buffer.byteLength(input)
  if (input instanceof BulkBytes) return input.kind === 'numbers' ? input.count : input.json.length
  let units = 0
  for (const item of input)
    units += typeof item === 'string' ? Buffer.byteLength(item) : Array.isArray(item) ? item.length : 1
  return units
}
