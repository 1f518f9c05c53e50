/** What a usage costs, in big integers, beside what the product makes of the provider's words for it. */
import { textCostNano, type TextPrice, type TokenCounts } from '../../../src/schemas/money/text-costs.ts'
import { chatUsageOf } from '../../../src/server/upstream/inference/chat/chat-usage.ts'
import { MessagesUsage } from '../../../src/server/upstream/inference/messages/messages-usage.ts'
import { readResponse } from '../../../src/server/upstream/inference/responses/response-answer.ts'
import { HEAD } from '../../support/inference/provider-chunks.ts'
import { searchCall } from '../../support/inference/responses-streams.ts'
import type { Proof } from '../proof.ts'

/** Of the tokens that a cache has written, some are kept for an hour. */
type Tokens = TokenCounts & { readonly cacheWriteHour: number; readonly searches: number }

/** A dialect's way to tell tokens, and the product's reader of it. */
interface Convention {
  readonly name: string
  /** It tells what is kept for an hour; otherwise nothing is. */
  readonly hasHour?: true
  /** It tells searches of the web; otherwise there are none. */
  readonly hasSearches?: true
  tell(tokens: Tokens): object
  read(json: Buffer): TokenCounts | null
}

const readChat = (json: Buffer): TokenCounts | null => chatUsageOf(json, false)

/** OpenAI counts caches in the prompt, and reasoning in the completion. */
function chatOf({ input, cacheRead, cacheWrite, output, reasoning }: TokenCounts): {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
} {
  const [prompt, completion] = [input + cacheRead + cacheWrite, output + reasoning]
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion }
}

export const CONVENTIONS: readonly Convention[] = [
  {
    name: 'chat',
    hasSearches: true,
    tell: (tokens) => ({
      ...chatOf(tokens),
      server_tool_use: { web_search_requests: tokens.searches },
      prompt_tokens_details: { cached_tokens: tokens.cacheRead, cache_write_tokens: tokens.cacheWrite },
      completion_tokens_details: { reasoning_tokens: tokens.reasoning },
    }),
    read: readChat,
  },
  {
    // xAI and Google leave reasoning out of the completion: only the total has it.
    name: 'chat, reasoning beside',
    tell: (tokens) => ({
      ...chatOf(tokens),
      completion_tokens: tokens.output,
      prompt_tokens_details: { cached_tokens: tokens.cacheRead, cache_write_tokens: tokens.cacheWrite },
      completion_tokens_details: { reasoning_tokens: tokens.reasoning },
    }),
    read: readChat,
  },
  {
    // DeepSeek.
    name: 'chat, caches beside',
    tell: (tokens) => ({
      ...chatOf(tokens),
      prompt_cache_hit_tokens: tokens.cacheRead,
      cache_creation_input_tokens: tokens.cacheWrite,
      reasoning_tokens: tokens.reasoning,
    }),
    read: readChat,
  },
  {
    // The prompt is there, since nothing else makes a model write.
    name: 'responses',
    hasSearches: true,
    tell: ({ input, cacheRead, cacheWrite, output, reasoning, searches }) => ({
      output: Array.from({ length: searches }, () => searchCall('search')),
      usage: {
        input_tokens: input + cacheRead + cacheWrite,
        input_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite },
        output_tokens: output + reasoning,
        output_tokens_details: { reasoning_tokens: reasoning },
        total_tokens: input + cacheRead + cacheWrite + output + reasoning,
      },
    }),
    read: (json) => readResponse(json, HEAD)?.usage ?? null,
  },
  {
    // Anthropic leaves what caches had, and have written, out of the input.
    name: 'messages',
    hasHour: true,
    hasSearches: true,
    tell: ({ input, cacheRead, cacheWrite, cacheWriteHour, output, reasoning, searches }) => ({
      ...{ input_tokens: input, cache_read_input_tokens: cacheRead, cache_creation_input_tokens: cacheWrite },
      cache_creation: {
        ephemeral_5m_input_tokens: cacheWrite - cacheWriteHour,
        ephemeral_1h_input_tokens: cacheWriteHour,
      },
      output_tokens: output + reasoning,
      output_tokens_details: { thinking_tokens: reasoning },
      server_tool_use: { web_search_requests: searches, web_fetch_requests: 9 },
    }),
    read(json) {
      const usage = new MessagesUsage()
      usage.told(json)
      return usage.tokens
    },
  },
]

const TOKENS_PER_PRICE = 1_000_000n
/** Nano-USD per million tokens: 1,000 USD. */
const PRICE_MAX = 1_000_000_000_000
const TOKENS_MAX = 2_000_000
const SEARCHES_MAX = 10

/** @param count usages of each convention */
export function checkCosts(proof: Proof, count: number): void {
  const random = (below: number): number => proof.random(Math.min(below, 2 ** 31))
  // Small ones and none as often as large ones.
  const tokens = (): number => random([1, 10, 10_000, TOKENS_MAX][random(4)] ?? 1)
  const priceOf = (): number => random([1, 1_000, 1_000_000][random(3)] ?? 1) * random(PRICE_MAX / 1_000_000)
  for (const { name, hasHour = false, hasSearches = false, tell, read } of CONVENTIONS) {
    const wrong: string[] = []
    for (let nth = 0; nth < count; nth++) {
      const cacheWrite = tokens()
      const cacheWriteHour = hasHour ? random(cacheWrite + 1) : 0
      const truth = {
        ...{ input: 1 + tokens(), cacheRead: tokens(), cacheWrite, cacheWriteHour },
        ...{ output: 1 + tokens(), reasoning: tokens(), searches: hasSearches ? random(SEARCHES_MAX) : 0 },
      }
      const price: TextPrice = {
        ...{ promptNanoPerMillion: priceOf(), cacheReadNanoPerMillion: priceOf() },
        ...{ cacheWriteNanoPerMillion: priceOf(), cacheWriteHourNanoPerMillion: priceOf() },
        completionNanoPerMillion: priceOf(),
        ...{ reasoningNanoPerMillion: priceOf(), requestNano: random(1_000_000) },
        searchNano: random(1_000_000_000),
      }
      const json = Buffer.from(JSON.stringify(tell(truth)))
      const found = read(json)
      const cost = found === null ? null : BigInt(textCostNano(found, price))
      const expected = costOf(truth, price)
      if (cost !== expected)
        wrong.push(`${json.toString()} at ${JSON.stringify(price)}: ${cost}, not ${expected}`)
    }
    proof.check(
      `${name}: cost is that of the oracle`,
      wrong.length === 0,
      `${count.toLocaleString('en')} usages, ${wrong.length} apart ${wrong[0] ?? ''}`,
    )
  }
}

function costOf(tokens: Tokens, price: TextPrice): bigint {
  const sum =
    BigInt(tokens.input) * BigInt(price.promptNanoPerMillion) +
    BigInt(tokens.cacheRead) * BigInt(price.cacheReadNanoPerMillion) +
    BigInt(tokens.cacheWrite - tokens.cacheWriteHour) * BigInt(price.cacheWriteNanoPerMillion) +
    BigInt(tokens.cacheWriteHour) * BigInt(price.cacheWriteHourNanoPerMillion) +
    BigInt(tokens.output) * BigInt(price.completionNanoPerMillion) +
    BigInt(tokens.reasoning) * BigInt(price.reasoningNanoPerMillion)
  const other = BigInt(price.requestNano) + BigInt(tokens.searches) * BigInt(price.searchNano)
  return (sum + TOKENS_PER_PRICE - 1n) / TOKENS_PER_PRICE + other
}
