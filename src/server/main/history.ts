import { fail, ok } from '../../schemas/failures.ts'
import { HISTORY_LINES_MAX } from '../../schemas/operator/history-limits.ts'
import { HISTORY_HOUR_S } from '../../schemas/operator/history-range.ts'
import { hourColumns, withHours } from '../observe/history/hours.ts'
import type { History } from '../ports/operator/history.ts'
import type { Store } from '../store/base/open.ts'
import { reach } from '../store/base/translate.ts'
import { readHistoryHours } from '../store/operator/history-hours.ts'
import type { Channel } from '../supervisor/fleet/channel.ts'

export interface HistoryDeps {
  readonly channel: Pick<Channel, 'history'>
  readonly store: Pick<Store, 'sql'>
}

/** The history of this node, which its supervisor keeps; and the hours of all nodes, which Postgres keeps. */
export function openHistory({ channel, store }: HistoryDeps): History {
  return {
    read: (input) =>
      reach(async () => {
        const data = await channel.history(input)
        if (data === null) return fail('busy', { detail: 'The supervisor does not answer.' })
        if (input.grainS < HISTORY_HOUR_S) return ok(data)
        const { dimension, columns } = hourColumns(input)
        const { sinceS, untilS, name } = input
        const read = await readHistoryHours(store.sql, {
          dimension,
          ...(name !== undefined && { name }),
          sinceS,
          untilS,
          places: [columns[0] + 1, columns[1]],
          namesMax: HISTORY_LINES_MAX,
        })
        return ok(withHours(data, input, read))
      }),
  }
}
