import { Argument, InvalidArgumentError, Option, type Command } from 'commander'
import { BUDGET_INTERVALS } from '../../../schemas/money/budgets.ts'
import { USD_MAX } from '../../../schemas/money/money-limits.ts'
import { budgetWire } from '../../operations/money/budget-answers.ts'
import type { Budget, BudgetRef, Budgets, WorkspaceRef } from '../../ports/money/budgets.ts'
import type { Span } from '../../ports/money/money.ts'
import { openBudgets } from '../../store/money/budgets.ts'
import { findOrganization } from '../../store/workspaces/organizations.ts'
import { findWorkspace } from '../../store/base/find-workspace.ts'
import { need, withDatabase, type DatabaseHandle } from '../parts/database.ts'
import { addVerb, print, table } from '../parts/verb.ts'
import { nanoOfUsd, usdText } from '../../../schemas/money/costs.ts'

interface Options {
  readonly json?: boolean
  readonly organization?: string
}

interface PutOptions extends Options {
  readonly includeByok?: 'on' | 'off'
}

/** `budgets list|get|put|delete`. */
export function addBudgetVerbs(program: Command): void {
  const group = program
    .command('budgets')
    .description('manage workspace budgets: daily, weekly, monthly and lifetime')
  budgetVerb(group, 'list', 'list the budgets of a workspace').action((workspace: string, options: Options) =>
    withBudgets(async (budgets, database) => {
      const all = need(await budgets.list(await workspaceOf(database, workspace, options)))
      const value = { data: all.budgets.map(budgetWire), include_byok_in_budgets: all.countsByok }
      print(options, value, tableOf(all.budgets) + byokLine(all.countsByok))
    }),
  )
  budgetVerb(group, 'get', 'show one budget')
    .addArgument(interval())
    .action((workspace: string, span: Span, options: Options) =>
      withBudgets(async (budgets, database) => {
        const { budget, countsByok } = need(
          await budgets.get(await refOf(database, { workspace, span }, options)),
        )
        print(
          options,
          { data: budgetWire(budget), include_byok_in_budgets: countsByok },
          tableOf([budget]) + byokLine(countsByok),
        )
      }),
    )
  budgetVerb(group, 'put', 'set a budget; a longer interval needs a larger limit')
    .addArgument(interval())
    .addArgument(new Argument('<usd>', 'limit in USD, up to nine decimal places').argParser(limitOf))
    .addOption(
      new Option(
        '--include-byok <on|off>',
        "whether spend on the workspace's own provider keys counts; default: unchanged",
      ).choices(['on', 'off']),
    )
    .action((workspace: string, span: Span, limitNano: bigint, options: PutOptions) =>
      withBudgets(async (budgets, database) => {
        const input = {
          limitNano,
          ...(options.includeByok !== undefined && { countsByok: options.includeByok === 'on' }),
        }
        const by = { ...database.by, operation: 'cli.budgets-put' }
        const { budget, countsByok } = need(
          await budgets.put(await refOf(database, { workspace, span }, options), input, by),
        )
        print(
          options,
          { data: budgetWire(budget), include_byok_in_budgets: countsByok },
          tableOf([budget]) + byokLine(countsByok),
        )
      }),
    )
  budgetVerb(group, 'delete', 'delete a budget; past spend stays on record')
    .addArgument(interval())
    .action((workspace: string, span: Span, options: Options) =>
      withBudgets(async (budgets, database) => {
        need(
          await budgets.remove(await refOf(database, { workspace, span }, options), {
            ...database.by,
            operation: 'cli.budgets-delete',
          }),
        )
        print(options, { deleted: true }, `no ${span} budget`)
      }),
    )
}

/** Parses an amount of USD as a person writes it. */
export function usdAmountOf(text: string): bigint {
  const nano = /^-?\d+(?:\.\d{1,9})?$/.test(text) ? nanoOfUsd(Number(text)) : null
  if (nano === null)
    throw new InvalidArgumentError(
      `Expected USD like 12.5, with at most nine decimal places and up to ${USD_MAX}.`,
    )
  return nano
}

/** Parses a limit in USD. */
export function limitOf(text: string): bigint {
  const nano = usdAmountOf(text)
  if (nano <= 0n) throw new InvalidArgumentError('Expected more than 0 USD.')
  return nano
}

function interval(): Argument {
  return new Argument('<interval>').choices(BUDGET_INTERVALS)
}

function budgetVerb(group: Command, name: string, description: string): Command {
  return addVerb(group, name, description)
    .argument('<workspace>', 'workspace id or slug')
    .option('--organization <ref>', 'organization id or name; optional if the slug is unique')
}

function withBudgets(use: (budgets: Budgets, database: DatabaseHandle) => Promise<void>): Promise<void> {
  return withDatabase((database) => use(openBudgets({ store: database.store, hints: database }), database))
}

async function workspaceOf(
  { store }: DatabaseHandle,
  reference: string,
  { organization }: Options,
): Promise<WorkspaceRef> {
  const organizationId =
    organization === undefined ? null : need(await findOrganization(store.sql, organization)).id
  const workspace = need(await findWorkspace(store.sql, reference, organizationId))
  return { organizationId: workspace.organizationId, workspace: workspace.id }
}

async function refOf(
  database: DatabaseHandle,
  { workspace, span }: { workspace: string; span: Span },
  options: Options,
): Promise<BudgetRef> {
  return { ...(await workspaceOf(database, workspace, options)), span }
}

function byokLine(countsByok: boolean): string {
  return `\nspend on the workspace's own provider keys ${countsByok ? 'counts' : 'does not count'}`
}

function tableOf(budgets: readonly Budget[]): string {
  const rows = budgets.map((budget) => [
    budget.span,
    usdText(budget.limitNano),
    usdText(budget.spentNano),
    usdText(budget.lentNano),
    budget.isEffective ? 'now' : 'pending',
    budget.resetsAt?.toISOString() ?? 'never',
  ])
  return table([['INTERVAL', 'LIMIT', 'SPENT', 'LENT', 'EFFECTIVE', 'RESETS'], ...rows])
}
