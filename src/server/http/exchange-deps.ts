import type { Failure } from '../../schemas/failures.ts'
import type { Listed, SwapList } from '../structures/swap-list.ts'
import type { UnreadAnswers } from '../limits/unread-answers.ts'
import type { BodyBudget } from './body/body-budget.ts'
import type { RequestHead } from './call/head.ts'
import type { ReadEnd } from './body/read-end.ts'
import type { Timers } from './timers.ts'

/** Bytes of a body not yet received that the library may swallow by itself behind a reply. Decision. */
export const SWALLOW_BYTES_MAX = 64 * 1024

/**
 * Share of answers without a body that end their connection. Only bodies tell whether the client reads at
 * all; without this, HEAD requests and preflights whose answers nobody reads would fill the library's buffer
 * without bound. Decision.
 */
export const LAST_BODILESS_SHARE = 1 / 32

/** An exchange as its front sees it. */
export interface OpenExchange extends Listed {
  /** The node ends and cannot wait: it is answered now, unless it has been. */
  drain(): void
}

/** What exchanges of one front share. */
export interface ExchangeHost {
  readonly timers: Timers
  readonly budget: BodyBudget
  readonly readEnd: ReadEnd
  readonly unread: UnreadAnswers
  /** Exchanges under way; each leaves when it settles. */
  readonly open: SwapList<OpenExchange>
  /** From 0 to below 1. */
  random(): number
  /** True when connections are to end after their reply. */
  isClosing: boolean
}

/** What an exchange tells its call. */
export interface ExchangeOwner {
  /** Whose memory an answer is that is not read; null while nobody knows who calls. */
  readonly organizationId: string | null
  /** The deadline passed and nobody answered: answer now. */
  expired(): void
  /** The node ends and cannot wait: answer now. */
  drained(): void
  /** A callback threw: a bug. Answer now; when it is too late for that, the connection is cut. */
  crashed(error: unknown): void
  /** The rest of an answer that has begun cannot be had; its connection is cut. */
  broken(failure: Failure): void
  /** Everything is over and returned; called exactly once. */
  settled(): void
}

export interface ExchangeDeps {
  readonly owner: ExchangeOwner
  readonly host: ExchangeHost
  readonly head: Pick<RequestHead, 'method' | 'declared' | 'isLast' | 'isExpecting'>
}
