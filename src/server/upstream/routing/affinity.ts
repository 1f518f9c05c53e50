import { HASH_BEGIN, hashed } from '../../../schemas/inference/conversation.ts'
import { isSamePrice, type ResolvedPrice } from '../../../schemas/money/price-at.ts'
import type { Endpoint } from '../../ports/models/models.ts'

/**
 * Puts the endpoints that stand beside each other with the same prices in the order of the conversation, so
 * that all turns of a conversation go to the same endpoint, whose prompt cache has them, and conversations
 * share the endpoints evenly. The order is a rendezvous hash: every front finds the same one, and an endpoint
 * that fails or is taken out moves its own conversations alone. D4.
 * @param conversation what is the same for all turns
 */
export function inOrderOfConversation(
  endpoints: readonly Endpoint[],
  conversation: string,
  priceOf: (endpoint: Endpoint) => ResolvedPrice,
): readonly Endpoint[] {
  if (endpoints.length < 2) return endpoints
  const hash = hashed(HASH_BEGIN, conversation)
  const ordered: Endpoint[] = []
  for (let begin = 0; begin < endpoints.length;) {
    const end = endOfEqual(endpoints, begin, priceOf)
    ordered.push(
      ...(end - begin === 1 ? endpoints.slice(begin, end) : byWeight(endpoints.slice(begin, end), hash)),
    )
    begin = end
  }
  return ordered
}

function byWeight(endpoints: readonly Endpoint[], hash: number): readonly Endpoint[] {
  return endpoints
    .map((endpoint) => ({ endpoint, weight: mixed(hashed(hash, endpoint.tag)) }))
    .sort((one, other) => other.weight - one.weight)
    .map(({ endpoint }) => endpoint)
}

/** Where the endpoints end that cost what the first does. */
function endOfEqual(
  endpoints: readonly Endpoint[],
  begin: number,
  priceOf: (endpoint: Endpoint) => ResolvedPrice,
): number {
  const first = endpoints[begin]
  if (first === undefined) return begin
  const price = priceOf(first)
  let end = begin + 1
  for (; end < endpoints.length; end++) {
    const next = endpoints[end]
    if (next === undefined || !isPaidAlike(first, next) || !isSamePrice(price, priceOf(next))) break
  }
  return end
}

function isPaidAlike(one: Endpoint, other: Endpoint): boolean {
  return one.isUnpriced === other.isUnpriced && (one.ownWay === undefined) === (other.ownWay === undefined)
}

/** Spreads a hash over 32 bits, the last bits of its text too (the end of MurmurHash3). */
function mixed(hash: number): number {
  let bits = hash ^ (hash >>> 16)
  bits = Math.imul(bits, 0x85ebca6b)
  bits ^= bits >>> 13
  bits = Math.imul(bits, 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}
