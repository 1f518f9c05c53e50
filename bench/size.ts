/**
 * `npm run bench -- size`: the cost of a call on a node with a million keys, a hundred thousand models and a
 * million files, and on one with few.
 */
import { runLoad } from '../test/support/load/load.ts'
import type { LoadRequest } from '../test/support/load/load-plan.ts'
import { startMock } from '../test/support/embeddings/mock.ts'
import { treeCpuS } from '../test/support/load/process-cpu.ts'
import { memoryByRole } from '../test/support/load/process-memory.ts'
import { keepRecord, progress } from './keep-record.ts'
import { sampleOf } from './measure.ts'
import { optionsOrExit } from './options.ts'
import { resultRow, type ResultRow, type SampleRecord, type ScenarioRecord } from './record.ts'
import { CELLS, type Cell } from './size/cells.ts'
import { sizeChecks, sizeRatios, type CellRows } from './size/findings.ts'
import { startSized, type SizedNode } from './size/node.ts'
import { readSizeOptions, SIZE_OPTIONS_TEXT } from './size/options.ts'

const options = optionsOrExit(process.argv.slice(2), readSizeOptions, SIZE_OPTIONS_TEXT)
// The path of the record is no setting of the measurement.
const { json, ...settings } = options
const SMALL = { keys: 10, models: 100, files: 10 }
const LARGE = { keys: options.keys, models: options.models, files: options.files }
const DIMENSIONS = 256

const mock = await startMock({ dimensions: DIMENSIONS, latencyMs: 0 })
const nodes: SizedNode[] = []
try {
  const provider = `http://127.0.0.1:${mock.port}`
  for (const [name, sizes] of [
    ['sluice-small', SMALL],
    ['sluice', LARGE],
  ] as const) {
    progress(`starting and filling a node with ${sizesText(sizes)}`)
    nodes.push(await startSized(name, sizes, provider))
  }
  await keepRecord(await measured(), json)
} finally {
  for (const node of nodes) await node.stop()
  await mock.stop()
}

async function measured(): Promise<Omit<ScenarioRecord, 'took_seconds'>> {
  const samples = new Map<string, SampleRecord[]>()
  for (let round = 0; round < options.repeats; round++) {
    for (const cell of CELLS) {
      progress(`repeat ${round + 1} of ${options.repeats}: ${cell.name}`)
      // The order of the nodes alternates.
      for (const node of round % 2 === 0 ? nodes : [...nodes].reverse()) {
        const one = await sample(cell, node, round)
        if (one !== null)
          samples.set(`${cell.name} ${node.name}`, [...(samples.get(`${cell.name} ${node.name}`) ?? []), one])
      }
    }
  }
  const found = CELLS.flatMap((cell): readonly CellRows[] => {
    const of = (name: SizedNode['name']): ResultRow | null =>
      rowOf(cell, name, samples.get(`${cell.name} ${name}`) ?? [])
    const large = of('sluice')
    return large === null ? [] : [{ cell, large, small: of('sluice-small') }]
  })
  return {
    scenario: 'size',
    question:
      'Does a call cost more on a node with very many keys, models and files than on one with few, warm and at the first touch?',
    settings: { ...settings, dimensions: DIMENSIONS },
    subjects: nodes.map(({ name, sizes }) => ({
      name,
      note: `the whole node with one front, and ${sizesText(sizes)}`,
    })),
    absent: [],
    rows: found.flatMap(({ large, small }) => (small === null ? [large] : [large, small])),
    ratios: sizeRatios(found),
    curves: [],
    checks: sizeChecks(found),
    notes: [
      ...nodes.map(
        ({ name, readyMs, filledMs }) =>
          `${name}: ready after ${(readyMs / 1e3).toFixed(1)} s, filled in ${(filledMs / 1e3).toFixed(1)} s`,
      ),
      'CPU is that of all processes of the node, Postgres and Redis included; the two nodes stand beside each other and are asked in turn',
      'the small node has ten keys: where the large one is asked with a thousand, the books of a thousand keys are part of what a call costs there',
    ],
  }
}

async function sample(cell: Cell, node: SizedNode, round: number): Promise<SampleRecord | null> {
  const requests = cell.requests(node, round)
  if (requests.length === 0) return null
  if (cell.warmth === 'warm' && round === 0) await ask(node, requests, { requestsMax: requests.length })
  const cpuBefore = treeCpuS(node.stand.pid)
  const result = await ask(node, requests, cell.warmth === 'cold' ? { requestsMax: requests.length } : {})
  const resident = [...memoryByRole(node.stand.pid).values()].reduce((sum, bytes) => sum + bytes, 0)
  return sampleOf(result, {
    cpuS: treeCpuS(node.stand.pid) - cpuBefore,
    rssBytes: resident,
    successStatus: 200,
  })
}

function ask(
  { stand }: SizedNode,
  requests: readonly LoadRequest[],
  { requestsMax }: { readonly requestsMax?: number },
) {
  return runLoad({
    host: '127.0.0.1',
    port: stand.port,
    connections: options.connections,
    durationMs: options.durationMs,
    pace: { kind: 'closed' },
    requests,
    isInTurn: true,
    ...(requestsMax === undefined ? {} : { requestsMax }),
  })
}

function rowOf(
  { name, warmth }: Cell,
  subject: SizedNode['name'],
  samples: readonly SampleRecord[],
): ResultRow | null {
  if (samples.length === 0) return null
  return resultRow(
    {
      scenario: 'size',
      case: `${name}, ${warmth}`,
      subject,
      pace: 'closed',
      connections: options.connections,
      offered_per_second: null,
      payload_bytes: null,
    },
    samples,
  )
}

function sizesText({ keys, models, files }: SizedNode['sizes']): string {
  const many = (count: number): string => count.toLocaleString('en')
  return `${many(keys)} keys, ${many(models)} models with an alias each, ${many(files)} files`
}
