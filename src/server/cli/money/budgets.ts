import { Argument, InvalidArgumentError, type Command } from 'commander'
import { BUDGET_INTERVALS, BudgetBody } from '../../../schemas/money/budgets.ts'
import { USD_MAX } from '../../../schemas/money/money-limits.ts'
import { budgetWire } from '../../operations/money/budget-answers.ts'
import type { Budget, BudgetRef, Budgets } from '../../ports/money/budgets.ts'
import type { Span } from '../../ports/money/money.ts'
import { openBudgets } from '../../store/money/budgets.ts'
import { need, withDatabase, type DatabaseHandle } from '../parts/database.ts'
import { ofWorkspace, workspaceOf, type PlaceOptions } from '../parts/places.ts'
import { optionsOf } from '../parts/shape-options.ts'
import { addVerb, print, table } from '../parts/verb.ts'
import { nanoOfUsd, usdText } from '../../../schemas/money/costs.ts'

const PUT = optionsOf(BudgetBody, { include_byok_in_budgets: '--include-byok <on|off>' })

/** `budgets list|get|put|delete`. */
export function addTo(program: Command): void {
  const group = program
    .command('budgets')
    .description('manage workspace budgets: daily, weekly, monthly and lifetime')
  ofWorkspace(addVerb(group, 'list', 'list the budgets of a workspace')).action(
    (workspace: string, options: PlaceOptions) =>
      withBudgets(async (budgets, database) => {
        const { organizationId, id } = await workspaceOf(database, workspace, options)
        const all = need(await budgets.list({ organizationId, workspace: id }))
        const value = { data: all.budgets.map(budgetWire), include_byok_in_budgets: all.countsByok }
        print(options, value, tableOf(all.budgets) + byokLine(all.countsByok))
      }),
  )
  ofBudget(group, 'get', 'show one budget').action((workspace: string, span: Span, options: PlaceOptions) =>
    withBudgets(async (budgets, database) =>
      printOne(options, need(await budgets.get(await refOf(database, { workspace, span }, options)))),
    ),
  )
  const put = ofBudget(group, 'put', 'set a budget; a longer interval needs a larger limit').addArgument(
    new Argument('<usd>', 'limit in USD, up to nine decimal places').argParser(limitOf),
  )
  PUT.addTo(put).action((workspace: string, span: Span, limitNano: bigint, options: PlaceOptions) =>
    withBudgets(async (budgets, database) => {
      const { include_byok_in_budgets: countsByok } = PUT.from(options)
      const input = { limitNano, ...(countsByok !== undefined && { countsByok }) }
      const by = { ...database.by, operation: 'cli.budgets-put' }
      const ref = await refOf(database, { workspace, span }, options)
      printOne(options, need(await budgets.put(ref, input, by)))
    }),
  )
  ofBudget(group, 'delete', 'delete a budget; past spend stays on record').action(
    (workspace: string, span: Span, options: PlaceOptions) =>
      withBudgets(async (budgets, database) => {
        const by = { ...database.by, operation: 'cli.budgets-delete' }
        need(await budgets.remove(await refOf(database, { workspace, span }, options), by))
        print(options, { deleted: true }, `no ${span} budget`)
      }),
  )
}

function printOne(
  options: PlaceOptions,
  { budget, countsByok }: { readonly budget: Budget; readonly countsByok: boolean },
): void {
  const value = { data: budgetWire(budget), include_byok_in_budgets: countsByok }
  print(options, value, tableOf([budget]) + byokLine(countsByok))
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

function ofBudget(group: Command, name: string, description: string): Command {
  return ofWorkspace(addVerb(group, name, description)).addArgument(
    new Argument('<interval>').choices(BUDGET_INTERVALS),
  )
}

function withBudgets(use: (budgets: Budgets, database: DatabaseHandle) => Promise<void>): Promise<void> {
  return withDatabase((database) => use(openBudgets({ store: database.store, hints: database }), database))
}

async function refOf(
  database: DatabaseHandle,
  { workspace, span }: { workspace: string; span: Span },
  options: PlaceOptions,
): Promise<BudgetRef> {
  const { organizationId, id } = await workspaceOf(database, workspace, options)
  return { organizationId, workspace: id, span }
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
    budget.resetsAt ?? 'never',
  ])
  return table([['INTERVAL', 'LIMIT', 'SPENT', 'LENT', 'EFFECTIVE', 'RESETS'], ...rows])
}
