/**
 * `npm run bench -- operations`: the cost of each operation of the API, from the list of operations itself.
 */
import type { AnyOperation } from '../src/server/operations/define.ts'
import { OPERATIONS } from '../src/server/operations/index.ts'
import { runLoad } from '../test/support/load/load.ts'
import { tree, treeCpuS } from '../test/support/load/process-cpu.ts'
import { keepRecord, progress } from './keep-record.ts'
import { sampleOf } from './measure.ts'
import { OPERATIONS_OPTIONS_TEXT, readOperationsOptions } from './operations/options.ts'
import { requestsOf, type Preparation } from './operations/preparation.ts'
import { preparationOf } from './operations/preparations.ts'
import { startWorld, type World } from './operations/world.ts'
import { optionsOrExit } from './options.ts'
import { checkRecord, resultRow, type ResultRow } from './record.ts'
import { spread } from './statistics.ts'
import { readMemory, totalOf } from './transfers/resources.ts'

const SCENARIO = 'operations'
const WARM_UP_MS = 100
/** Operation that runs last, since its open jobs keep a runner busy. */
const LAST = 'video.create'

const options = optionsOrExit(process.argv.slice(2), readOperationsOptions, OPERATIONS_OPTIONS_TEXT)
const { connections } = options
const chosen = OPERATIONS.filter(({ id }) => options.only.includes(id)).sort(
  (a, b) => Number(a.id === LAST) - Number(b.id === LAST),
)

progress('a node with something of each kind')
const world = await startWorld()
try {
  const rows: ResultRow[] = []
  for (const [at, operation] of chosen.entries()) {
    progress(`${at + 1} of ${chosen.length}: ${operation.id}`)
    rows.push(await rowOf(operation, world))
  }
  await keepRecord(
    {
      scenario: SCENARIO,
      question: `what each of ${rows.length} operations costs at ${connections} connections, closed pace`,
      settings: { connections, durationMs: options.durationMs },
      subjects: [
        {
          name: 'sluice',
          note: 'the whole node with one front: supervisor, front, runner, embedded Postgres and Redis',
        },
      ],
      absent: [],
      rows,
      ratios: [],
      curves: [],
      checks: [
        checkRecord('requests that failed', spread([rows.reduce((sum, { failed }) => sum + failed, 0)]), {
          bound: { atMost: 0 },
          rows,
          repeats: null,
        }),
      ],
      notes: [
        'what is deleted, revoked or made under a name of its own is made ahead, some dozens of each: such cells are short, and CPU is counted in 10 ms',
        'CPU is of all processes of the node, what they do beside the requests included',
      ],
    },
    options.json,
  )
} finally {
  await world.stop()
}

async function rowOf(operation: AnyOperation, of: World): Promise<ResultRow> {
  const preparation = preparationOf(operation)
  const { requests, requestsMax } = await loadOf(operation, { preparation, world: of })
  const before = treeCpuS(of.stand.pid)
  const result = await runLoad({
    host: '127.0.0.1',
    port: of.stand.port,
    connections: Math.min(connections, requestsMax ?? connections),
    durationMs: options.durationMs,
    pace: { kind: 'closed' },
    requests,
    isInTurn: true,
    ...(preparation.fresh === null ? { warmUpMs: WARM_UP_MS } : {}),
    ...(requestsMax === null ? {} : { requestsMax }),
  })
  const cpuS = treeCpuS(of.stand.pid) - before
  const sample = sampleOf(result, {
    cpuS,
    rssBytes: totalOf(readMemory(tree(of.stand.pid))),
    successStatus: preparation.status ?? operation.success.status,
  })
  return resultRow(
    {
      scenario: SCENARIO,
      case: operation.id,
      subject: 'sluice',
      pace: 'closed',
      connections,
      offered_per_second: null,
      payload_bytes: null,
    },
    [sample],
  )
}

/**
 * Loads an operation. More things are prepared than counted: the last answer arrives while other connections
 * have sent their next request.
 */
async function loadOf(
  operation: AnyOperation,
  { preparation, world: of }: { readonly preparation: Preparation; readonly world: World },
): Promise<{
  readonly requests: Awaited<ReturnType<typeof requestsOf>>
  readonly requestsMax: number | null
}> {
  const { fresh, most = null } = preparation
  if (fresh === null) return { requests: await requestsOf(operation, preparation, of), requestsMax: most }
  return {
    requests: await requestsOf(operation, { ...preparation, fresh: fresh + connections }, of),
    requestsMax: fresh,
  }
}
