import { Option, type Command } from 'commander'
import { faultOfDays } from '../../../schemas/money/activity.ts'
import { ACTIVITY_DAYS_MAX } from '../../../schemas/money/money-limits.ts'
import type { ActivitySums } from '../../ports/money/activity.ts'
import { ACTIVITY_GROUPS, sumActivity, type ActivityGroup } from '../../store/money/activity.ts'
import { need, withDatabase, type DatabaseHandle } from '../parts/database.ts'
import { inOrganization, organizationOf, workspaceOf, type PlaceOptions } from '../parts/places.ts'
import { addVerb, dayOf, print, table } from '../parts/verb.ts'
import { usdText } from '../../../schemas/money/costs.ts'
import { activitySums } from '../../operations/money/list-activity.ts'

interface Options extends PlaceOptions {
  readonly from?: string
  readonly to?: string
  readonly by: ActivityGroup
}

const HEADS: Readonly<Record<ActivityGroup, string>> = {
  day: 'DAY',
  key: 'KEY',
  workspace: 'WORKSPACE',
  model: 'MODEL',
}
/** Digits of a key's hash after its name. */
const HASH_DIGITS = 12

/** `usage`: the spend, with totals. */
export function addTo(program: Command): void {
  inOrganization(addVerb(program, 'usage', 'show spend by day, key, workspace or model'), 'only')
    .addOption(new Option('--by <what>', 'group by').choices(ACTIVITY_GROUPS).default('day'))
    .option('--from <day>', 'first day (UTC), such as 2027-01-01; default: 29 days before --to', dayOf)
    .option(
      '--to <day>',
      `last day; default: today, but at most ${ACTIVITY_DAYS_MAX} days including --from`,
      dayOf,
    )
    .option('--workspace <ref>', 'only this workspace (id or slug)')
    .action((options: Options, command: Command) => {
      const fault = faultOfDays(options)
      if (fault !== null)
        command.error(`error: --${fault.path.slice(1)} takes ${fault.expected.replaceAll('`', '')}`, {
          exitCode: 2,
        })
      return withDatabase((database) => report(database, options))
    })
}

async function report(database: DatabaseHandle, options: Options): Promise<void> {
  const { by, from, to, workspace } = options
  const organization = await organizationOf(database, options)
  const workspaceId =
    workspace === undefined ? undefined : (await workspaceOf(database, workspace, { organization })).id
  const found = need(
    await sumActivity(database.store, {
      organizationId: organization,
      by,
      ...(from !== undefined && { from }),
      ...(to !== undefined && { to }),
      ...(workspaceId !== undefined && { workspaceId }),
    }),
  )
  const { groups, total } = found
  const value = {
    from: found.from,
    to: found.to,
    by,
    data: groups.map((group) => ({ id: group.id, name: group.name, ...activitySums(group) })),
    total: activitySums(total),
  }
  const lines = groups.map((group) => [
    by === 'key' ? `${group.name} (${group.id.slice(0, HASH_DIGITS)})` : group.name,
    ...cellsOf(group),
  ])
  print(
    options,
    value,
    table([
      [HEADS[by], 'REQUESTS', 'TOKENS', 'CACHED', 'OUTPUT TOKENS', 'USD', 'OWN KEYS USD', 'FORFEITED USD'],
      ...lines,
      [`${found.from} to ${found.to}`, ...cellsOf(total)],
    ]),
  )
}

function cellsOf(sums: ActivitySums): readonly string[] {
  const { requests, tokens, cachedTokens, outputTokens, spentNano, byokNano, forfeitedNano } = sums
  const cached = tokens === 0n ? '' : `${(cachedTokens * 100n) / tokens} %`
  const usd = [spentNano, byokNano, forfeitedNano].map(usdText)
  return [String(requests), String(tokens), cached, String(outputTokens), ...usd]
}
