import type { Failure } from '../../schemas/failures.ts'
import type { Listed, SwapList } from '../structures/swap-list.ts'
import type { RequestHead } from './call/head.ts'
import type { ReadEnd } from './body/socket-reading.ts'
import type { Timers } from './timers.ts'
import type { BodyBudget } from './body/body.ts'
import type { UnreadAnswers } from '../limits/loop-share.ts'

/** Bytes of a missing body that the library may drop by itself after a reply. Decision. */
export const SWALLOW_BYTES_MAX = 64 * 1024

/**
 * Share of answers without a body that end their connection. Only bodies show whether the client reads:
 * without this, HEAD requests and preflights with unread answers would fill the library's buffer without
 * bound. Decision.
 */
export const LAST_BODILESS_SHARE = 1 / 32

export interface OpenExchange extends Listed {
  /** The node stops and cannot wait: answers now, unless the call has its answer. */
  drain(): void
}

export interface ExchangeHost {
  readonly timers: Timers
  readonly budget: BodyBudget
  readonly readEnd: ReadEnd
  readonly unread: UnreadAnswers
  /** Exchanges in progress; each leaves when it settles. */
  readonly open: SwapList<OpenExchange>
  /** A number from 0 to below 1. */
  random(): number
  /** True when connections must end after their reply. */
  isClosing: boolean
  /** True when the front is about to end: calls are answered 503 at once. */
  isOutOfTime: boolean
}

export interface ExchangeOwner {
  /** The organization to which an unread answer's memory counts; null before the caller is known. */
  readonly organizationId: string | null
  /** The deadline passed without an answer: answer now. */
  expired(): void
  /** The node stops and cannot wait: answer now. */
  drained(): void
  /** A callback threw: a bug. Answer now; when it is too late for an answer, the connection is cut. */
  crashed(error: unknown): void
  /** The rest of a started answer is unavailable; its connection is cut. */
  broken(failure: Failure): void
  /** The exchange is over, and all resources are returned; called exactly once. */
  settled(): void
}

export interface ExchangeDeps {
  readonly owner: ExchangeOwner
  readonly host: ExchangeHost
  readonly head: Pick<RequestHead, 'method' | 'declared' | 'isLast' | 'isExpecting'>
}
