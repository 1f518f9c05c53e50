/**
 * `npm run bench -- scaling`: the gain of a second front where handlers are the limit, and of worker threads
 * for sealed uploads.
 */
import { keepRecord, progress } from './keep-record.ts'
import { optionsOrExit } from './options.ts'
import { frontsFindings, SCENARIO, workersFindings, type Findings } from './scaling/findings.ts'
import { fronts } from './scaling/fronts.ts'
import { readScalingOptions, SCALING_OPTIONS_TEXT } from './scaling/options.ts'
import { workers } from './scaling/workers.ts'

const options = optionsOrExit(process.argv.slice(2), readScalingOptions, SCALING_OPTIONS_TEXT)

const found: Findings[] = []
if (options.sections.includes('fronts')) found.push(frontsFindings(await fronts(options, progress), options))
if (options.sections.includes('workers'))
  found.push(workersFindings(await workers(options, progress), options))

const { seconds, repeats, connections, payloadBytes } = options
await keepRecord(
  {
    scenario: SCENARIO,
    question:
      'what a second front brings calls that its handlers bound, and what worker threads bring sealed uploads, until the cores are used',
    settings: {
      seconds,
      repeats,
      connections,
      payload_bytes: payloadBytes,
      fronts: options.fronts.join(','),
      workers: options.workers.join(','),
      sections: options.sections.join(','),
    },
    subjects: [
      {
        name: 'sluice',
        note: 'a node for each count: fronts, runner, embedded Postgres and Redis; generator and provider are on the same cores',
      },
    ],
    absent: [],
    rows: found.flatMap((one) => one.rows),
    ratios: [],
    curves: found.flatMap((one) => one.curves),
    checks: found.flatMap((one) => one.checks),
    notes: found.flatMap((one) => one.notes),
  },
  options.json,
)
