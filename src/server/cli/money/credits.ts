import { Argument, InvalidArgumentError, type Command } from 'commander'
import { CREDIT_NOTE_CHARS_MAX } from '../../../schemas/money/money-limits.ts'
import type { CreditEntry, CreditState } from '../../ports/money/credits.ts'
import { listCredits, openCredits } from '../../store/money/credits.ts'
import { need, withDatabase } from '../parts/database.ts'
import { inOrganization, organizationOf, type PlaceOptions } from '../parts/places.ts'
import { usdAmountOf } from './budgets.ts'
import { addVerb, print, printList, table } from '../parts/verb.ts'
import { usdOfNano, usdText } from '../../../schemas/money/costs.ts'
import { creditTotals } from '../../operations/money/get-credits.ts'

/** `credits add|show|list`. */
export function addTo(program: Command): void {
  const group = program
    .command('credits')
    .description('manage organization credit; unlimited until the first top-up')
  creditVerb(group, 'add', 'add credit; a negative amount is a correction')
    .addArgument(new Argument('<usd>', 'amount in USD, up to nine decimal places').argParser(amountOf))
    .requiredOption('--note <text>', 'reason for the entry', noteOf)
    .action((amountNano: bigint, options: PlaceOptions & { note: string }) =>
      withDatabase(async (database) => {
        const organizationId = await organizationOf(database, options)
        const credits = openCredits({ store: database.store, hints: database })
        const input = { organizationId, amountNano, note: options.note, claim: null }
        const { entry, state } = need(
          await credits.add(input, { ...database.by, operation: 'cli.credits-add' }),
        )
        print(
          options,
          { data: { ...wireOf(entry), ...creditTotals(state) } },
          `${linesOf(state)}\nentry ${entry.id}`,
        )
      }),
    )
  creditVerb(group, 'show', 'show remaining credit and spend').action((options: PlaceOptions) =>
    withDatabase(async (database) => {
      const credits = openCredits({ store: database.store, hints: database })
      const state = need(await credits.get(await organizationOf(database, options)))
      print(options, { data: creditTotals(state) }, linesOf(state))
    }),
  )
  creditVerb(group, 'list', 'list the credit entries, newest first').action((options: PlaceOptions) =>
    withDatabase(async (database) => {
      const entries = need(await listCredits(database.store, await organizationOf(database, options)))
      printList(options, entries, wireOf, [
        ['AT', 'KIND', 'USD', 'BY', 'NOTE'],
        (entry) => [entry.createdAt, entry.kind, usdText(entry.amountNano), entry.createdBy, entry.note],
      ])
    }),
  )
}

function creditVerb(group: Command, name: string, description: string): Command {
  return inOrganization(addVerb(group, name, description), 'only')
}

function amountOf(text: string): bigint {
  const nano = usdAmountOf(text)
  if (nano === 0n) throw new InvalidArgumentError('Expected an amount other than 0.')
  return nano
}

function noteOf(text: string): string {
  const note = text.trim()
  if (note === '' || [...note].length > CREDIT_NOTE_CHARS_MAX)
    throw new InvalidArgumentError(`Expected 1 to ${CREDIT_NOTE_CHARS_MAX} characters.`)
  return note
}

function linesOf({ creditNano, usedNano, lentNano, isUnlimited, isEffective }: CreditState): string {
  const rows = isUnlimited
    ? [['credit', 'unlimited']]
    : [
        ['credit', usdText(creditNano)],
        ['remaining', usdText(creditNano - usedNano)],
        ['lent', usdText(lentNano)],
        ['effective', isEffective ? 'now' : 'pending'],
      ]
  return table([...rows, ['spent', usdText(usedNano)]])
}

function wireOf({ id, kind, amountNano, note, createdBy, createdAt }: CreditEntry): object {
  return {
    id,
    kind,
    amount_usd: usdOfNano(amountNano),
    note,
    created_by: createdBy,
    created_at: createdAt.toISOString(),
  }
}
