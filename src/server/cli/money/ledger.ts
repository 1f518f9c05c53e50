import type { Command } from 'commander'
import { checkLedger, type LedgerCheck } from '../../store/money/repair/check.ts'
import { closeNode, journalsOf, type NodeJournals } from '../../store/money/repair/close-node.ts'
import { exportLedger } from '../../store/money/repair/export.ts'
import { forgive, listForfeits, type Forfeit, type ForfeitQuery } from '../../store/money/repair/forgive.ts'
import { journalsFolder, segmentFiles } from '../../journal/segments.ts'
import { isId } from '../../store/base/ids.ts'
import type { Queryable } from '../../store/base/open.ts'
import { openLender } from '../../store/money/lender.ts'
import { need, withDatabase, type DatabaseHandle } from '../parts/database.ts'
import { inOrganization, organizationIfAny, type PlaceOptions } from '../parts/places.ts'
import { idIfAny } from '../parts/reference.ts'
import { stderrLog } from '../parts/stderr-log.ts'
import {
  addVerb,
  CliFailure,
  countOf,
  dayOf,
  loadGeneration,
  print,
  printList,
  table,
} from '../parts/verb.ts'
import { usdText } from '../../../schemas/money/costs.ts'

const FORFEITS_LISTED_DEFAULT = 100

interface Inputs {
  readonly json?: boolean
  readonly journal?: string
  readonly request?: string
  readonly before?: string
}

interface ExportOptions extends PlaceOptions {
  readonly from?: string
  readonly to?: string
}

/** `ledger check|export|close-node|forfeits|forgive`. */
export function addTo(program: Command): void {
  const group = program.command('ledger').description('check and export the ledger of all calls')
  addVerb(
    group,
    'check',
    'recompute all sums from the ledger and compare; exit code 1 if any differs',
  ).action((options: { json?: boolean }) =>
    withDatabase(async ({ store }) => tellCheck(options, need(await checkLedger(store)))),
  )
  inOrganization(group.command('export').description('write the ledger to standard output'), 'all')
    .requiredOption('--csv', 'write CSV (RFC 4180) with a header line')
    .option('--from <day>', 'first day, such as 2026-01-01', dayOf)
    .option('--to <day>', 'last day', dayOf)
    .action((options: ExportOptions) => withDatabase((database) => exportCsv(database, options)))
  addCloseNode(group)
  wished(
    addVerb(
      group,
      'forfeits',
      'list forfeits, newest first: amounts reserved for calls whose outcome is unknown after a crash',
    ),
  )
    .option('--limit <count>', 'maximum number of forfeits', countOf, FORFEITS_LISTED_DEFAULT)
    .action((options: Inputs & { limit: number }) =>
      withDatabase((database) => tellForfeits(database, options)),
    )
  wished(addVerb(group, 'forgive', 'release forfeits, so that they no longer count towards limits'))
    .requiredOption('--note <text>', 'reason, for the audit log')
    .action((options: Inputs & { note: string }, command: Command) => {
      const { journal, request, before, note } = options
      if ([journal, request, before].every((given) => given === undefined))
        command.error('error: give one of --journal <id>, --request <id> or --before <day>', { exitCode: 2 })
      return withDatabase(async ({ store, by }) => {
        const query = await queryOf(store.sql, options)
        const { forfeits, amountNano } = need(await forgive(store, { ...query, note }, by))
        print(
          options,
          { forfeits, amount_nano_usd: String(amountNano) },
          `${forfeits} forfeits forgiven, ${usdText(amountNano)} USD`,
        )
      })
    })
}

interface CloseOptions {
  readonly json?: boolean
  readonly force?: boolean
}

function addCloseNode(group: Command): void {
  addVerb(group, 'close-node', 'settle the money reserved by a node that was lost with its disk')
    .argument('<node>', 'node id or id prefix from `sluice doctor`')
    .option(
      '--force',
      'close the node even if its journals are on this machine or its fronts may only be paused',
    )
    .action((named: string, options: CloseOptions) =>
      withDatabase(async ({ store, by }) => {
        const node = await idIfAny(store.sql, 'node', named)
        mayBeClosed(node, need(await journalsOf(store, node)), options)
        const done = need(await closeNode({ store, lender: openLender(store, { log: stderrLog }) }, node, by))
        const result = {
          node,
          journals: done.journals,
          forfeits: done.forfeits,
          forfeited_nano_usd: String(done.forfeitedNano),
          returned_nano_usd: String(done.returnedNano),
        }
        print(
          options,
          result,
          `${done.journals} journals closed, ${done.forfeits} forfeits:\n${usdText(done.forfeitedNano)} USD forfeited, ` +
            `${usdText(done.returnedNano)} USD returned (all accounts together)`,
        )
      }),
    )
}

/** Throws CliFailure when closing the node could lose journals that a front or this data directory still has. */
function mayBeClosed(
  node: string,
  { isKnown, open, liveFronts, silentFronts }: NodeJournals,
  { force = false }: CloseOptions,
): void {
  if (!isKnown)
    throw new CliFailure(
      `the database has no journals of node ${node}; \`sluice doctor\` lists the nodes with journals`,
    )
  if (liveFronts > 0)
    throw new CliFailure(`node ${node} has ${liveFronts} running fronts: stop the node first`)
  if (force) return
  const here = new Set(segmentFiles(journalsFolder(loadGeneration().config.dataDir)).map(({ id }) => id))
  if (open.some((id) => here.has(id))) {
    throw new CliFailure(
      `journals of node ${node} are in the data directory: start the node to settle them, or use --force`,
    )
  }
  if (silentFronts > 0) {
    throw new CliFailure(
      `${silentFronts} fronts of node ${node} stopped responding without a shutdown and may still spend: make sure that none is ` +
        'running, then use --force',
    )
  }
}

function wished(verb: Command): Command {
  return verb
    .option('--journal <id>', 'only forfeits of this journal (id or id prefix)')
    .option('--request <id>', 'only the forfeit of this request (id or id prefix)')
    .option('--before <day>', 'only amounts that were forfeited before this day', dayOf)
}

/** The forfeits that the options name, with ids in full. Throws CliFailure for a journal that no forfeit names. */
async function queryOf(sql: Queryable, { journal, request, before }: Inputs): Promise<ForfeitQuery> {
  return {
    ...(journal !== undefined && { journalId: await journalMeant(sql, journal) }),
    ...(request !== undefined && { requestId: await idIfAny(sql, 'request', request) }),
    ...(before !== undefined && { before }),
  }
}

async function journalMeant(sql: Queryable, named: string): Promise<string> {
  const id = await idIfAny(sql, 'journal', named)
  if (isId(id)) return id
  throw new CliFailure(`no forfeit found for journal ${named}; \`sluice ledger forfeits\` lists all forfeits`)
}

function tellCheck(options: { readonly json?: boolean }, { sums, differences, count }: LedgerCheck): void {
  const result = {
    differences,
    difference_count: count,
    rows: sums.rows,
    accounts: sums.accounts,
    activity_rows: sums.activityRows,
    leases: sums.leases,
    months: sums.months,
    spent_nano_usd: String(sums.spentNano),
    byok_nano_usd: String(sums.byokNano),
    forfeited_nano_usd: String(sums.forfeitedNano),
    lent_nano_usd: String(sums.lentNano),
    held_nano_usd: String(sums.heldNano),
    dropped_nano_usd: String(sums.prunedNano),
  }
  const lines =
    differences.length === 0
      ? []
      : [
          table([
            ['OF', 'COUNTER', 'EXPECTED', 'FOUND'],
            ...differences.map(({ subject, counter, expected, found }) => [
              subject,
              counter,
              expected ?? 'nothing',
              found ?? 'nothing',
            ]),
          ]),
        ]
  if (count > differences.length) lines.push(`${count - differences.length} more differences are not listed`)
  lines.push(
    `${sums.rows} rows in ${sums.months.length} months, ${sums.accounts} accounts, ${sums.activityRows} activity rows, ` +
      `${sums.leases} leases`,
  )
  lines.push(
    `USD spent: ${usdText(sums.spentNano)}; spent on own provider keys: ${usdText(sums.byokNano)}; ` +
      `forfeited: ${usdText(sums.forfeitedNano)}; reserved by front processes: ${usdText(sums.lentNano)}; ` +
      `reserved by video jobs: ${usdText(sums.heldNano)}; spent in deleted months: ${usdText(sums.prunedNano)}`,
  )
  lines.push(count === 0 ? 'the ledger balances' : `${count} differences`)
  print(options, result, lines.join('\n'))
  if (count > 0) throw new CliFailure(`the ledger does not balance: ${count} differences`)
}

async function exportCsv(database: DatabaseHandle, options: ExportOptions): Promise<void> {
  const { from, to } = options
  const organizationId = await organizationIfAny(database, options)
  await exportLedger(
    database.store,
    {
      ...(from !== undefined && { from }),
      ...(to !== undefined && { to }),
      ...(organizationId !== null && { organizationId }),
    },
    process.stdout,
  )
}

async function tellForfeits({ store }: DatabaseHandle, options: Inputs & { limit: number }): Promise<void> {
  const query = await queryOf(store.sql, options)
  const forfeits = need(await listForfeits(store, query, options.limit))
  printList(options, forfeits, wireOf, [
    ['DAY', 'USD', 'REQUEST', 'KEY OR ACCOUNT', 'MODEL', 'JOURNAL'],
    (one) => [
      one.day,
      usdText(one.costNano - one.releasedNano),
      one.requestId,
      one.keyHash ?? one.accountId,
      one.model,
      one.journalId,
    ],
  ])
}

function wireOf(forfeit: Forfeit): object {
  return {
    day: forfeit.day,
    at: forfeit.at.toISOString(),
    request_id: forfeit.requestId,
    organization_id: forfeit.organizationId,
    workspace_id: forfeit.workspaceId,
    key_hash: forfeit.keyHash,
    account_id: forfeit.accountId,
    journal_id: forfeit.journalId,
    model: forfeit.model,
    cost_nano_usd: String(forfeit.costNano),
    released_nano_usd: String(forfeit.releasedNano),
  }
}
