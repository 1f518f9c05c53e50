import type { RequestShape } from '../../../../schemas/requests/requests.ts'
import type { PageContext } from '../page.ts'
import { useLoaded } from '../parts/loaded.tsx'
import { DAY_S, loadRecent, type Group } from './spend-sums.ts'

/** The newest calls, whose keys have a last use to the second. */
const CALLS_READ = 500

export interface LastUse {
  readonly at: string
  /** Known to the day alone: the start of that day in UTC. */
  readonly isDay: boolean
}

/** When keys were last used, by their hash: of the newest calls to the second, of older ones to the day. */
export function useLastUses({ api }: PageContext): ReadonlyMap<string, LastUse> | undefined {
  return useLoaded(
    async (signal) => {
      const [recent, calls] = await Promise.all([
        loadRecent(api, signal),
        api.get<{ data: readonly Call[] }>(['admin', 'requests'], { limit: CALLS_READ }, signal),
      ])
      return lastUsesOf(calls.data, recent.groups.key, recent.sinceS)
    },
    [api],
  ).value
}

type Call = Pick<RequestShape, 'key' | 'ended_at'>

/** @param calls the newest first @param groups of keys, with the sums of each day from `sinceS` on */
export function lastUsesOf(
  calls: readonly Call[],
  groups: readonly Pick<Group, 'name' | 'daily'>[],
  sinceS: number,
): ReadonlyMap<string, LastUse> {
  const found = new Map<string, LastUse>()
  for (const { name, daily } of groups) {
    const day = daily.findLastIndex(({ requests }) => requests > 0)
    if (day >= 0) found.set(name, { at: new Date((sinceS + day * DAY_S) * 1_000).toISOString(), isDay: true })
  }
  for (const { key, ended_at: at } of calls.toReversed())
    if (key !== null) found.set(key, { at, isDay: false })
  return found
}
