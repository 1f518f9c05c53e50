/** `npm run bench -- vault`: what 300 secrets a second cost, and what they do to a small read. */
import { figureCheck } from './figure.ts'
import { machine } from './machine.ts'
import { spread } from './statistics.ts'
import { optionsOrExit } from './options.ts'
import { keepReport } from './text.ts'
import { startGateway } from './transfers/gateway.ts'
import { measure, warm } from './vault/measure.ts'
import { readVaultOptions, VAULT_OPTIONS_TEXT, writesOf } from './vault/options.ts'
import { vaultText, type VaultRepeat, type VaultReport } from './vault/report.ts'

/** Of the offered rate. What was in flight at both ends does not always even out. */
const RATE_SHARE_MIN = 0.99

const options = optionsOrExit(process.argv.slice(2), readVaultOptions, VAULT_OPTIONS_TEXT)
const facts = machine()
const startedAt = performance.now()
const progress = (text: string): void => void process.stderr.write(`${text}\n`)

progress('starting sluice')
const gateway = await startGateway({})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void gateway.stop().finally(() => process.exit(130)))
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
  const samples = repeats.flatMap((one) => [one.writes, one.alone, one.beside, one.burner])
  const least = RATE_SHARE_MIN * options.ratePerS
  const checks = [
    figureCheck(`secrets written a second, of ${options.ratePerS} offered`, spread(repeats.map((one) => one.writes.ratePerS)), {
      bound: { atLeast: least }, samples,
    }),
    figureCheck('p99 of a model read, beside writes over beside a burner', spread(repeats.map((one) => one.beside.p99 / one.burner.p99)), {
      bound: { atMost: 2 }, samples,
    }),
    figureCheck('event-loop delay p99 beside writes, ms', spread(repeats.map((one) => one.loopP99Ms ?? Number.NaN)), {
      bound: { atMost: 10 }, samples,
    }),
  ]
  const { seconds, ratePerS } = options
  const found: VaultReport = {
    scenario: 'vault',
    at: new Date().toISOString(),
    machine: facts,
    settings: {
      seconds, repeats: repeats.length, ratePerS, writes: writesOf(options), tookS: Math.round((performance.now() - startedAt) / 1_000),
    },
    repeats,
    checks,
    notes: [
      'sluice: the whole node with one front; key check, AES-256-GCM and HMAC in the worker pool, vault row, audit chain and commit in the embedded Postgres',
      'half new names, half replacements; half of each 64 B, half 4 KiB; latency of a write counts from when it was due',
      'CPU of a write: beyond that of the model reads alone; others are the database, the cache, the runner and the supervisor',
      `generators and server share ${facts.cores} cores; the loop figure is the largest of the node's processes`,
    ],
  }
  await keepReport(found, { text: vaultText(found), file: options.json })
  if (checks.some((one) => !one.isMet)) process.exitCode = 1
}
