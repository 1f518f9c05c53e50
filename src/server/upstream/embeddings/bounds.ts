import { BulkBytes } from '../../../schemas/bodies.ts'
import { costNano } from '../../../schemas/money/costs.ts'
import { COST_NANO_MAX } from '../../../schemas/money/money-limits.ts'
import { dearestPricesAt, type ResolvedPrice } from '../../../schemas/money/price-at.ts'
import type { EmbeddingsRequest } from '../../ports/embeddings/embeddings.ts'
import type { Endpoint } from '../../ports/models/models.ts'
import type { CostBound } from '../../ports/money/money.ts'
import { dearestBound, type CallInstants } from '../cost-bound.ts'
import { partsOf, type InputShape } from './input-shape.ts'
import { NO_TIERS } from '../../../schemas/models/price-conditions.ts'

type Input = EmbeddingsRequest['input']
type TextShape = Pick<InputShape, 'kind' | 'count'>

/** Tokens that an endpoint adds to each input: marks of start and end, a prompt for the input type. Decision. */
export const TOKENS_ADDED_MAX = 16
/** Fewest JSON bytes of one token id: a digit and a comma. */
const JSON_BYTES_PER_ID_MIN = 2

interface BoundedInput {
  readonly input: Input
  readonly shape: InputShape
  readonly instants: Pick<CallInstants, 'from' | 'until'>
}

/** The most that a call may cost, over all endpoints that the call may reach. Design §6.4. */
export function costBoundOf(
  targets: readonly { readonly endpoint: Endpoint }[],
  { input, shape, instants }: BoundedInput,
): CostBound {
  return dearestBound(targets, (endpoint) => {
    const { conditions, inputNanoPerMillionMax } = endpoint.prices
    const requestNano = callNano(endpoint.prices, shape)
    // Counting a long text takes time.
    if (conditions === null && inputNanoPerMillionMax === 0) return requestNano
    const tokens = mostTokens(input, shape, endpoint.contextLength)
    const dearest = dearestPricesAt(endpoint, {
      promptTokensMax: tokens,
      from: instants.from,
      until: instants.until,
      asked: NO_TIERS,
    })
    const promptNanoPerMillion = dearest.inputNanoPerMillionMax
    if (promptNanoPerMillion === 0) return requestNano
    return tokens === null ? null : costNano(tokens, { promptNanoPerMillion, requestNano })
  })
}

/** Nano-USD of a call in addition to its tokens. */
export function callNano(
  { requestNano, imageNano }: Pick<ResolvedPrice, 'requestNano' | 'imageNano'>,
  { pictures }: Pick<InputShape, 'pictures'>,
): number {
  return Math.min(COST_NANO_MAX, requestNano + pictures * imageNano)
}

/**
 * Tokens that an input may have at most: one token for each byte of UTF-8, but for each vector no more than the context
 * of the endpoint. Null for pictures and other media where the context is unknown.
 */
export function mostTokens(
  input: Input,
  { kind, count }: TextShape,
  contextLength: number | null,
): number | null {
  const each = contextLength ?? Infinity
  if (typeof input === 'string') return Math.min(textTokens(input, each), each)
  if (input instanceof BulkBytes) return mostOfBulk(input, { kind, count }, each)
  if (kind === 'numbers') return Math.min(input.length + TOKENS_ADDED_MAX, each)
  if (kind === 'objects') return finite(mostOfParts(input, count, each))
  let tokens = 0
  for (const item of input) {
    if (typeof item === 'string') tokens += Math.min(textTokens(item, each), each)
    else if (Array.isArray(item)) tokens += Math.min(item.length + TOKENS_ADDED_MAX, each)
  }
  return tokens
}

/** Bytes are counted only where the context does not decide the maximum. */
function textTokens(text: string, each: number): number {
  return text.length >= each ? each : Buffer.byteLength(text) + TOKENS_ADDED_MAX
}

/** JSON never has fewer bytes than the text that it encodes. */
function mostOfBulk(
  { json, count: ids }: BulkBytes,
  { kind, count }: TextShape,
  each: number,
): number | null {
  const added = count * TOKENS_ADDED_MAX
  const most = count * each
  switch (kind) {
    case 'string':
    case 'strings':
      return Math.min(json.length + added, most)
    case 'numbers':
      return Math.min(ids + added, most)
    case 'lists':
      return Math.min(Math.ceil(json.length / JSON_BYTES_PER_ID_MIN) + added, most)
    case 'objects':
      return finite(most)
    default:
      return kind satisfies never
  }
}

/** Neither the bytes nor the URL of a picture determine its tokens: a picture counts as the whole context. */
function mostOfParts(input: Input, count: number, each: number): number {
  let tokens = count * TOKENS_ADDED_MAX
  for (const part of partsOf(input)) tokens += part.type === 'text' ? Buffer.byteLength(part.text) : Infinity
  return Math.min(tokens, count * each)
}

function finite(tokens: number): number | null {
  return tokens === Infinity ? null : tokens
}
