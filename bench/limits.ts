/** `npm run bench -- limits`: what all limits cost a call together, and what rate limits let through. */
import { startStand } from '../test/support/stand.ts'
import { gatewayTarget } from './gateway.ts'
import { accuracy, type Accuracy } from './limits/accuracy.ts'
import { LIMITS_OPTIONS_TEXT, readLimitsOptions } from './limits/options.ts'
import { limitedKey } from './limits/owners.ts'
import { machine } from './machine.ts'
import { interleave } from './measure.ts'
import { GENERATOR_CORES_MAX } from './record.ts'
import { optionsOrExit } from './options.ts'
import { check, ratio, rowOf, table, type Check, type Report, type Row } from './report.ts'
import { columns, keepReport } from './text.ts'

const CPU_RATIO_MAX = 1.1

const options = optionsOrExit(process.argv.slice(2), readLimitsOptions, LIMITS_OPTIONS_TEXT)
const settings = {
  connections: options.connections, durationMs: options.seconds * 1_000, warmUpMs: 8_000, repeats: options.repeats,
}
const progress = (text: string): void => void process.stderr.write(`${text}\n`)
const facts = machine()

const { rows, checks } = options.only.includes('cpu') ? await cpu() : { rows: [], checks: [] }
const sizes = options.only.includes('accuracy') ? await accuracy(options, progress) : []
const above = sizes.filter(({ admitted, bound }) => admitted > bound)
const report: Report & { readonly accuracy: readonly Accuracy[] } = {
  scenario: 'limits',
  at: new Date().toISOString(),
  machine: facts,
  settings,
  rows,
  checks,
  accuracy: sizes,
  notes: [
    'none: a key for which nothing has a limit; all: credit, four budgets, a key limit and a rate limit, none of them near',
    'both keep the journal and the ledger; CPU is of the whole node: supervisor, fronts, runner, embedded Postgres and Redis',
    'allowed: limit × the time between the first and the last call that was let in, and the burst; the bound adds 100 ms',
    `* the generator used more than ${GENERATOR_CORES_MAX} of a core, or the rig did not reach the limit`,
    ...(sizes.length === 0 ? [] : [`${above.length} of ${sizes.length} sizes let more through than their bound`]),
  ],
}
await keepReport(report, { text: [table(report), '', ...sizeLines()].join('\n'), file: options.json })
if (checks.some((one) => !one.isMet) || above.length > 0) process.exitCode = 1

async function cpu(): Promise<{ readonly rows: readonly Row[]; readonly checks: readonly Check[] }> {
  const stand = await startStand({ dimensions: 1_536 })
  try {
    const none = { ...gatewayTarget(stand), name: 'none' }
    const all = { ...none, name: 'all', request: stand.embeddings(await limitedKey(stand)) }
    const repeats = await interleave([none, all], settings, progress)
    const found = [none, all].map(({ name }) => rowOf(name, repeats.get(name) ?? []))
    const over = ratio(repeats.get('all') ?? [], repeats.get('none') ?? [], (repeat) => repeat.loaded.cpuUs)
    return { rows: found, checks: [check('CPU a request, all limits over none', over, { atMost: CPU_RATIO_MAX, rows: found })] }
  } finally {
    await stand.stop()
  }
}

function sizeLines(): readonly string[] {
  if (sizes.length === 0) return []
  const head = ['limit a minute', 'fronts', 'offered/s', 'admitted', 'allowed', 'admitted/allowed', 'CPU µs/call']
  return columns([head, ...sizes.map((one) => [
    String(one.rpm), String(one.fronts), one.offeredPerS.toFixed(0) + (one.isReached ? '' : ' *'), String(one.admitted), one.allowed.toFixed(0),
    (one.admitted / one.allowed).toFixed(3), one.cpuUs.toFixed(0),
  ])])
}
