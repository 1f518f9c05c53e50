import type { Failure } from '../../schemas/failures.ts'
import type { Listed, SwapList } from '../structures/swap-list.ts'
import type { RequestHead } from './call/head.ts'
import type { ReadEnd } from './body/socket-reading.ts'
import type { Timers } from './timers.ts'
import type { BodyBudget } from './body/body.ts'
import type { UnreadAnswers } from '../limits/loop-share.ts'

/** Bytes of a body still missing after a reply that the library may drop by itself. Decision. */
export const SWALLOW_BYTES_MAX = 64 * 1024

/**
 * Share of answers without a body that end their connection. Only bodies show whether the client reads:
 * without this, HEAD requests and preflights with unread answers would fill the library's buffer without
 * limit. Decision.
 */
export const LAST_BODILESS_SHARE = 1 / 32

export interface OpenExchange extends Listed {
  /** Called when the node stops and cannot wait: answers now, unless the call already has its answer. */
  drain(): void
}

export interface ExchangeHost {
  readonly timers: Timers
  readonly budget: BodyBudget
  readonly readEnd: ReadEnd
  readonly unread: UnreadAnswers
  /** Exchanges in progress; each is removed when it settles. */
  readonly open: SwapList<OpenExchange>
  /** A number from 0 to below 1. */
  random(): number
  /** True when connections must end after their reply. */
  isClosing: boolean
  /** True when the front is about to end: calls are answered 503 at once. */
  isOutOfTime: boolean
}

export interface ExchangeOwner {
  /** The organization to which the memory of an unread answer is counted; null before the caller is known. */
  readonly organizationId: string | null
  /** Called when the deadline passed without an answer: must answer now. */
  expired(): void
  /** Called when the node stops and cannot wait: must answer now. */
  drained(): void
  /** Called when a callback threw, which is a bug: must answer now. If it is too late for an answer, the connection is cut. */
  crashed(error: unknown): void
  /** Called when the rest of an answer in progress is unavailable; its connection is cut. */
  broken(failure: Failure): void
  /** Called exactly once, when the exchange is over and all resources are returned. */
  settled(): void
}

export interface ExchangeDeps {
  readonly owner: ExchangeOwner
  readonly host: ExchangeHost
  readonly head: Pick<RequestHead, 'method' | 'declared' | 'isLast' | 'isExpecting'>
}
