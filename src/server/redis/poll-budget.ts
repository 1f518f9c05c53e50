import type { RateAuthority } from '../ports/rates.ts'
import type { PollBudget, PollGrant } from '../ports/videos/video-work.ts'

/** Period in milliseconds whose polls of a provider may be made at once; at least one poll. Decision. */
export const VIDEO_POLL_BURST_MS = 100
/**
 * Milliseconds by which a poll may take longer to reach its provider than the next poll: that many late polls
 * may arrive in the following second. Decision.
 */
export const VIDEO_POLL_LAG_MS = 50
/** Milliseconds that a runner waits for Redis to grant polls before it uses its own share. Decision. */
export const VIDEO_POLL_ASK_MS_MAX = 250

export interface PollBudgetOptions {
  readonly authority: RateAuthority
  readonly runners: { readonly liveRunners: number }
  /** Monotonic milliseconds. */
  readonly now: () => number
}

/** The polls that one runner may make without Redis, as a level that falls with time. */
interface Share {
  levelMs: number
  /** Monotonic milliseconds at which `levelMs` was measured. */
  at: number
}

const MINUTE_MS = 60_000
const SECOND_MS = 1_000

/**
 * Polls of each provider. Redis counts the polls of all runners; without Redis each runner has its share,
 * which is empty at first. Design §6, §7.
 */
export function openPollBudget({ authority, runners, now }: PollBudgetOptions): PollBudget {
  const shares = new Map<string, Share>()
  const alone = (provider: string, perSecond: number, want: number): PollGrant => {
    const each = (SECOND_MS * Math.max(1, runners.liveRunners)) / paceOf(perSecond)
    const full = each * burstOf(perSecond / Math.max(1, runners.liveRunners))
    const share = shares.get(provider) ?? { levelMs: full, at: now() }
    shares.set(provider, share)
    const at = now()
    share.levelMs = Math.min(full, Math.max(0, share.levelMs - (at - share.at)))
    share.at = at
    // The added thousandth of a millisecond compensates for rounding errors in sums of fractions.
    const granted = Math.max(0, Math.min(want, Math.floor((full - share.levelMs + ROUNDING_MS) / each)))
    share.levelMs += granted * each
    return { granted, retryAfterMs: granted < want ? Math.max(1, Math.ceil(share.levelMs + each - full)) : 0 }
  }
  return {
    get liveRunners() {
      return Math.max(1, runners.liveRunners)
    },
    async take(provider, perSecond, want) {
      if (!authority.isReachable) return alone(provider, perSecond, want)
      try {
        const { granted, retryAfterMs } = await authority.lend({
          // No API key has such a hash, so the names cannot collide with keys.
          key: `polls:${provider}`,
          limitRpm: (paceOf(perSecond) * MINUTE_MS) / SECOND_MS,
          burst: burstOf(perSecond),
          want,
          giveBack: 0,
          waitMsMax: VIDEO_POLL_ASK_MS_MAX,
        })
        shares.delete(provider)
        return { granted, retryAfterMs }
      } catch {
        return alone(provider, perSecond, want)
      }
    },
  }
}

const ROUNDING_MS = 0.001

/**
 * The rate is lower than the cap by the share of the burst and of late polls, so that a provider never counts
 * more polls in a second than the cap.
 */
function paceOf(perSecond: number): number {
  return perSecond * (1 - (VIDEO_POLL_BURST_MS + VIDEO_POLL_LAG_MS) / SECOND_MS)
}

function burstOf(perSecond: number): number {
  return Math.max(1, (perSecond * VIDEO_POLL_BURST_MS) / SECOND_MS)
}
