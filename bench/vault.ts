/** `npm run bench -- vault`: the cost of 300 secrets a second, and their effect on a small read. */
import { availableParallelism } from 'node:os'
import { keepRecord, progress } from './keep-record.ts'
import { optionsOrExit } from './options.ts'
import { checkRecord, type Bound, type CheckRecord } from './record.ts'
import { spread } from './statistics.ts'
import { startGateway } from './transfers/gateway.ts'
import { measure, warm } from './vault/measure.ts'
import { readVaultOptions, VAULT_OPTIONS_TEXT, writesOf } from './vault/options.ts'
import { figureLines, vaultRows, type VaultRepeat } from './vault/report.ts'

/**
 * Share of the offered rate that must be reached; the requests in flight at both ends do not always cancel
 * out.
 */
const RATE_SHARE_MIN = 0.99

const options = optionsOrExit(process.argv.slice(2), readVaultOptions, VAULT_OPTIONS_TEXT)

progress('starting sluice')
const gateway = await startGateway({})
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void gateway.stop().finally(() => process.exit(130)))
try {
  progress('warming')
  await warm(gateway, options)
  const repeats: VaultRepeat[] = []
  for (let nth = 0; nth < options.repeats; nth++) {
    const one = await measure(gateway, { ...options, series: `r${nth}` })
    const { writes, beside, burner } = one
    progress(
      `repeat ${nth + 1}: ${writes.ratePerS.toFixed(0)} writes/s; ` +
        `read p99 ${beside.p99.toFixed(1)} ms beside them, ${burner.p99.toFixed(1)} ms beside a burner`,
    )
    repeats.push(one)
  }
  await report(repeats)
} finally {
  await gateway.stop()
}

async function report(repeats: readonly VaultRepeat[]): Promise<void> {
  const rows = vaultRows(repeats, options)
  const check = (text: string, read: (one: VaultRepeat) => number | null, bound: Bound): CheckRecord =>
    checkRecord(text, spread(repeats.map((one) => read(one) ?? Number.NaN)), { bound, rows })
  const { seconds, ratePerS } = options
  await keepRecord(
    {
      scenario: 'vault',
      question: `what ${ratePerS} secrets a second cost, and what they do to a small read, against a burner of as much CPU`,
      settings: { seconds, repeats: repeats.length, ratePerS, writes: writesOf(options) },
      subjects: [
        {
          name: 'sluice',
          note: 'the whole node with one front; key check, AES-256-GCM and HMAC in the worker pool, vault row, audit chain and commit in the embedded Postgres',
        },
      ],
      absent: [],
      rows,
      ratios: [],
      curves: [],
      checks: [
        check(`secrets written a second, of ${ratePerS} offered`, (one) => one.writes.ratePerS, {
          atLeast: RATE_SHARE_MIN * ratePerS,
        }),
        check(
          'p99 of a model read, beside writes over beside a burner',
          (one) => one.beside.p99 / one.burner.p99,
          { atMost: 2 },
        ),
        check('event-loop delay p99 beside writes, ms', (one) => one.loopP99Ms, { atMost: 10 }),
      ],
      notes: [
        ...figureLines(repeats),
        'half new names, half replacements; half of each 64 B, half 4 KiB; latency of a write counts from when it was due',
        'CPU of a write: beyond that of the model reads alone; others are the database, the cache, the runner and the supervisor',
        `generators and server share ${availableParallelism()} cores; the loop figure is the largest of the node's processes`,
      ],
    },
    options.json,
  )
}
