/** `npm run bench -- limits`: the cost of all limits for a call, and the calls that rate limits admit. */
import { startStand } from '../test/support/nodes/stand.ts'
import { gatewayTarget } from './gateway.ts'
import { keepRecord, progress } from './keep-record.ts'
import { accuracy, type Accuracy } from './limits/accuracy.ts'
import { besideOthers } from './limits/beside.ts'
import { LIMITS_OPTIONS_TEXT, readLimitsOptions } from './limits/options.ts'
import { limitedKey } from './limits/owners.ts'
import { interleave, rowsOf } from './measure.ts'
import { optionsOrExit } from './options.ts'
import { eachRatio, ratiosOver } from './ratios.ts'
import { checkRecord, resultRow, type CheckRecord, type ResultRow } from './record.ts'
import { spread } from './statistics.ts'
import { columns } from './text.ts'

const CPU_RATIO_MAX = 1.1
const WINDOWS =
  'the limiter alone: behind the same minimal server of node:http. rate-limiter-flexible counts in fixed windows: ' +
  'all of a minute may come at once, and twice as much around the end of one'

const options = optionsOrExit(process.argv.slice(2), readLimitsOptions, LIMITS_OPTIONS_TEXT)
const settings = {
  connections: options.connections,
  durationMs: options.seconds * 1_000,
  repeats: options.repeats,
  // The warm-up of a short sample should not take longer than the sample.
  warmUpMs: Math.min(8_000, 2_000 * options.seconds),
}

const cost = options.only.includes('cpu') ? await cpu() : { rows: [], checks: [] }
const beside = options.only.includes('beside')
  ? await besideOthers(options, progress)
  : { rows: [], subjects: [], absent: [], notes: [] }
const sizes = options.only.includes('accuracy') ? await accuracy(options, progress) : []
const sizeRows = sizes.map(sizeRow)
const rows = [...cost.rows, ...beside.rows, ...sizeRows]
await keepRecord(
  {
    scenario: 'limits',
    question:
      'what all limits cost a call together and beside other limiters, and what rate limits of all sizes let through',
    settings,
    subjects: [
      { name: 'sluice-unlimited', note: 'a key for which nothing has a limit' },
      {
        name: 'sluice',
        note: 'a key with credit, four budgets, a key limit and a rate limit, none of them near',
      },
      ...beside.subjects,
    ],
    absent: beside.absent.map(({ name, absent: reason }) => ({ name, reason })),
    rows,
    // A comparison with a server without a limiter has no winner.
    ratios: ratiosOver(
      rows.filter(({ subject }) => subject !== 'direct'),
      'sluice',
      ['cpu_us_per_request', 'requests_per_second'],
    ),
    curves: [],
    checks: [
      ...cost.checks,
      ...(sizes.length === 0
        ? []
        : [
            checkRecord(
              'calls let in over the bound of their limit',
              spread(sizes.map((one) => one.admitted / one.bound)),
              {
                bound: { atMost: 1 },
                rows: sizeRows,
                repeats: null,
              },
            ),
          ].map((one) => ({ ...one, is_met: one.is_met && one.found.max <= 1 }))),
    ],
    notes: [
      'both keep the journal and the ledger; CPU is of the whole node: supervisor, fronts, runner, embedded Postgres and Redis',
      ...(sizes.length === 0
        ? []
        : [
            'allowed: limit × the time between the first and the last call that was let in, and the burst; the bound adds 100 ms',
          ]),
      ...sizeLines(),
      ...(beside.rows.length === 0 ? [] : [WINDOWS, ...beside.notes]),
    ],
  },
  options.json,
)

async function cpu(): Promise<{
  readonly rows: readonly ResultRow[]
  readonly checks: readonly CheckRecord[]
}> {
  const stand = await startStand({ dimensions: 1_536 })
  try {
    const none = { ...gatewayTarget(stand), name: 'sluice-unlimited' }
    const all = { ...none, name: 'sluice', request: stand.embeddings(await limitedKey(stand)) }
    const repeats = await interleave([none, all], settings, progress)
    const found = rowsOf('limits', repeats, settings)
    const over = eachRatio(
      repeats.get('sluice') ?? [],
      repeats.get(none.name) ?? [],
      ({ loaded }) => loaded.cpu_us_per_request,
    )
    return {
      rows: found,
      checks: [
        checkRecord('CPU per request, all limits over none', over, {
          bound: { atMost: CPU_RATIO_MAX },
          rows: found,
        }),
      ],
    }
  } finally {
    await stand.stop()
  }
}

/** The row of an offered load; refused calls are no failures here. */
function sizeRow(one: Accuracy): ResultRow {
  return resultRow(
    {
      scenario: 'limits',
      case: `${one.rpm} a minute, fronts ${one.fronts}`,
      subject: 'sluice',
      pace: 'closed',
      connections: options.connections,
      offered_per_second: null,
      payload_bytes: null,
    },
    [
      {
        cpu_us_per_request: one.cpuUs,
        cpu_s_per_gb: null,
        requests_per_second: one.offeredPerS,
        mb_per_second: null,
        latency_us: null,
        rss_mb: null,
        generator_cores: one.generatorCores,
        failed: 0,
        failures: [],
      },
    ],
  )
}

function sizeLines(): readonly string[] {
  if (sizes.length === 0) return []
  const head = [
    'limit a minute',
    'fronts',
    'offered/s',
    'admitted',
    'allowed',
    'admitted/allowed',
    'CPU µs/call',
  ]
  return columns([
    head,
    ...sizes.map((one) => [
      String(one.rpm),
      String(one.fronts),
      one.offeredPerS.toFixed(0) + (one.isReached ? '' : ' (the rig did not reach the limit)'),
      String(one.admitted),
      one.allowed.toFixed(0),
      (one.admitted / one.allowed).toFixed(3),
      one.cpuUs.toFixed(0),
    ]),
  ])
}
