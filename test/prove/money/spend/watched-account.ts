import { pause } from '../../../support/nodes/spawned.ts'
import type { SpendStand } from './spend-stand.ts'

const LOOK_MS = 20

export interface WatchedAccount {
  /** Looks so far, and those that found more spent and lent than the limit. */
  end(): Promise<{ readonly samples: number; readonly above: number }>
}

/** Looks at the account again and again. */
export function watchAccount(
  { account }: Pick<SpendStand, 'account'>,
  id: string,
  limitNano: bigint,
): WatchedAccount {
  const seen = { samples: 0, above: 0 }
  let isEnded = false
  const look = async (): Promise<void> => {
    while (!isEnded) {
      const { spentNano, lentNano } = await account(id)
      seen.samples++
      if (spentNano + lentNano > limitNano) seen.above++
      await pause(LOOK_MS)
    }
  }
  const looking = look()
  return {
    async end() {
      isEnded = true
      await looking
      return seen
    },
  }
}
