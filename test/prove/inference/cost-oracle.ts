/** The cost of a usage in big integers, to compare with the product's cost of the provider's figures. */
import { chatUsageOf } from '../../../src/dialects/chat/usage.ts'
import { MessagesUsage } from '../../../src/dialects/messages/usage.ts'
import { geminiUsageOf } from '../../../src/dialects/gemini/parts.ts'
import { readResponse } from '../../../src/dialects/responses/whole.ts'
import { HEAD } from '../../support/inference/provider-chunks.ts'
import { searchCall } from '../../support/inference/responses-streams.ts'
import type { Proof } from '../proof.ts'
import {
  MEDIA_KINDS,
  textCostNano,
  type MediaFigures,
  type TextPrice,
  type TokenCounts,
} from '../../../src/schemas/money/costs.ts'

/** All buckets of a usage. Of the tokens that a cache has written, some are kept for an hour. */
export type Tokens = Required<TokenCounts>

/** What a provider has words for; what it has none for is not there. */
export interface Answer {
  /** It reports the tokens that are kept for an hour. */
  readonly hasHour?: true
  readonly hasSearches?: true
  /** Kinds of tokens that are no text. */
  readonly media?: readonly (keyof MediaFigures)[]
  /** Tokens written to a cache are not reported. */
  readonly hasNoWrites?: true
}

/** A dialect's way to report tokens, and the product's reader of it. */
interface Convention extends Answer {
  readonly name: string
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

/** Chat reports sounds and pictures of the whole prompt: those from a cache cannot be distinguished. */
export const CHAT_MEDIA = ['audio', 'image', 'audioOutput'] as const

/** As OpenAI reports it. */
export function chatUsage(tokens: Tokens): object {
  const { audio, image, audioOutput } = tokens.media
  return {
    ...chatOf(tokens),
    server_tool_use: { web_search_requests: tokens.searches },
    prompt_tokens_details: {
      ...{ cached_tokens: tokens.cacheRead, cache_write_tokens: tokens.cacheWrite },
      ...{ audio_tokens: audio, image_tokens: image },
    },
    completion_tokens_details: {
      ...{ reasoning_tokens: tokens.reasoning, audio_tokens: audioOutput },
    },
  }
}

/** As Google reports it: sums, and counts of each medium. */
export function geminiUsage({ input, cacheRead, output, reasoning, media }: Tokens): object {
  const { audio, image, audioRead, audioOutput } = media
  const detailsOf = (sound: number, picture: number, all: number): readonly object[] => [
    { modality: 'TEXT', tokenCount: all - sound - picture },
    { modality: 'AUDIO', tokenCount: sound },
    { modality: 'IMAGE', tokenCount: picture },
  ]
  return {
    ...{ promptTokenCount: input + cacheRead, cachedContentTokenCount: cacheRead },
    ...{ candidatesTokenCount: output, thoughtsTokenCount: reasoning },
    totalTokenCount: input + cacheRead + output + reasoning,
    promptTokensDetails: detailsOf(audio + audioRead, image, input + cacheRead),
    cacheTokensDetails: detailsOf(audioRead, 0, cacheRead),
    candidatesTokensDetails: detailsOf(audioOutput, 0, output),
  }
}

/** As OpenAI's responses report it. */
export function responsesUsage({ input, cacheRead, cacheWrite, output, reasoning }: TokenCounts): object {
  const all = input + cacheRead + cacheWrite
  return {
    input_tokens: all,
    input_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite },
    output_tokens: output + reasoning,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: all + output + reasoning,
  }
}

/** Anthropic leaves what caches had, and have written, out of the input. */
export function messagesUsage(tokens: Tokens): object {
  const { input, cacheRead, cacheWrite, cacheWriteHour, output, reasoning, searches } = tokens
  return {
    ...{ input_tokens: input, cache_read_input_tokens: cacheRead, cache_creation_input_tokens: cacheWrite },
    cache_creation: {
      ephemeral_5m_input_tokens: cacheWrite - cacheWriteHour,
      ephemeral_1h_input_tokens: cacheWriteHour,
    },
    output_tokens: output + reasoning,
    output_tokens_details: { thinking_tokens: reasoning },
    server_tool_use: { web_search_requests: searches, web_fetch_requests: 9 },
  }
}

export const CONVENTIONS: readonly Convention[] = [
  {
    name: 'chat',
    hasSearches: true,
    media: CHAT_MEDIA,
    tell: chatUsage,
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
    tell: (tokens) => ({
      output: Array.from({ length: tokens.searches }, () => searchCall('search')),
      usage: responsesUsage(tokens),
    }),
    read: (json) => {
      const read = readResponse(json, HEAD)
      return read === null || read instanceof Uint8Array ? null : read.usage
    },
  },
  {
    name: 'messages',
    hasHour: true,
    hasSearches: true,
    tell: messagesUsage,
    read(json) {
      const usage = new MessagesUsage()
      usage.update(json)
      return usage.tokens
    },
  },
  {
    name: 'gemini',
    hasNoWrites: true,
    media: MEDIA_KINDS,
    tell: geminiUsage,
    read: (json) => geminiUsageOf(JSON.parse(json.toString())),
  },
]

const TOKENS_PER_PRICE = 1_000_000n
/** Nano-USD per million tokens: 1,000 USD. */
const PRICE_MAX = 1_000_000_000_000
const TOKENS_MAX = 2_000_000
const SEARCHES_MAX = 10

type Random = (below: number) => number

/** Usages with figures of every size. @param most tokens of one kind at most */
export function tokensBy(random: Random, reported: Answer, most = TOKENS_MAX): Tokens {
  // Small ones and none as often as large ones.
  const tokens = (): number => random(Math.min([1, 10, 10_000, most][random(4)] ?? 1, most))
  const share = (of: number, kind: keyof MediaFigures): number =>
    reported.media?.includes(kind) === true ? random(2) * random(of + 1) : 0
  const [input, cacheRead, output] = [1 + tokens(), tokens(), 1 + tokens()]
  const cacheWrite = reported.hasNoWrites === true ? 0 : tokens()
  const audio = share(input, 'audio')
  return {
    ...{ input, cacheRead, cacheWrite, output, reasoning: tokens() },
    cacheWriteHour: reported.hasHour === true ? random(cacheWrite + 1) : 0,
    searches: reported.hasSearches === true ? random(SEARCHES_MAX) : 0,
    media: {
      ...{ audio, image: share(input - audio, 'image'), audioRead: share(cacheRead, 'audioRead') },
      audioOutput: share(output, 'audioOutput'),
    },
  }
}

export type AllPrices = Required<TextPrice>

export function pricesBy(random: Random): AllPrices {
  const price = (): number => random([1, 1_000, 1_000_000][random(3)] ?? 1) * random(PRICE_MAX / 1_000_000)
  return {
    ...{ promptNanoPerMillion: price(), cacheReadNanoPerMillion: price() },
    ...{ cacheWriteNanoPerMillion: price(), cacheWriteHourNanoPerMillion: price() },
    completionNanoPerMillion: price(),
    ...{ reasoningNanoPerMillion: price(), requestNano: random(1_000_000) },
    searchNano: random(1_000_000_000),
    media: {
      ...{ audio: price(), image: price(), audioRead: price() },
      audioOutput: price(),
    },
  }
}

/** @param count usages of each convention */
export function checkCosts(proof: Proof, count: number): void {
  const random = (below: number): number => proof.random(Math.min(below, 2 ** 31))
  for (const { name, tell, read, ...reported } of CONVENTIONS) {
    const wrong: string[] = []
    for (let nth = 0; nth < count; nth++) {
      const truth = tokensBy(random, reported)
      const price = pricesBy(random)
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

export function costOf(tokens: Tokens, price: AllPrices): bigint {
  const { media } = tokens
  const buckets: readonly (readonly [tokens: number, nanoPerMillion: number])[] = [
    [tokens.input - media.audio - media.image, price.promptNanoPerMillion],
    [tokens.cacheRead - media.audioRead, price.cacheReadNanoPerMillion],
    [tokens.cacheWrite - tokens.cacheWriteHour, price.cacheWriteNanoPerMillion],
    [tokens.cacheWriteHour, price.cacheWriteHourNanoPerMillion],
    [tokens.output - media.audioOutput, price.completionNanoPerMillion],
    [tokens.reasoning, price.reasoningNanoPerMillion],
    ...MEDIA_KINDS.map((kind) => [media[kind], price.media[kind]] as const),
  ]
  const sum = buckets.reduce((all, [count, nano]) => all + BigInt(count) * BigInt(nano), 0n)
  const other = BigInt(price.requestNano) + BigInt(tokens.searches) * BigInt(price.searchNano)
  return (sum + TOKENS_PER_PRICE - 1n) / TOKENS_PER_PRICE + other
}
