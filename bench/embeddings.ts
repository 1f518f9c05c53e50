/**
 * `npm run bench -- embeddings`: the cost of governing an embeddings call, against other servers on the same
 * rig.
 */
import { availableParallelism } from 'node:os'
import { startStand } from '../test/support/nodes/stand.ts'
import { CPU_BOUNDS, HEAP_BYTES_MAX } from './embeddings/bounds.ts'
import {
  EMBEDDINGS_OPTIONS_TEXT,
  EMBEDDINGS_TARGETS,
  readEmbeddingsOptions,
  type EmbeddingsTarget,
} from './embeddings/options.ts'
import { gatewayTarget, startUngoverned } from './gateway.ts'
import { openHeapWatch } from './heap/heap.ts'
import { keepRecord, progress } from './keep-record.ts'
import { ALONE, interleave, rowsOf, type Repeat, type Settings } from './measure.ts'
import { optionsOrExit } from './options.ts'
import { startNginx, startPortkey, type Upstream } from './peers.ts'
import { startHaproxy } from './peers/haproxy.ts'
import { startProxy } from './peers/proxies.ts'
import { startBareRelay } from './peers/relays.ts'
import { eachRatio, ratiosOver } from './ratios.ts'
import { checkRecord, type CheckRecord, type ResultRow } from './record.ts'
import { spread } from './statistics.ts'
import type { Absent, Target } from './target.ts'
import { ROOT } from './text.ts'

const options = optionsOrExit(process.argv.slice(2), readEmbeddingsOptions, EMBEDDINGS_OPTIONS_TEXT)

const settings: Settings = {
  connections: options.connections,
  durationMs: options.seconds * 1_000,
  // The warm-up of a short sample should not take longer than the sample.
  warmUpMs: Math.min(8_000, 2_000 * options.seconds),
  repeats: options.repeats,
}
const heap = await openHeapWatch()
const stand = await startStand({
  dimensions: options.dimensions,
  latencyMs: options.latencyMs,
  settings: heap.inherited,
})
const { mock } = stand
const upstream: Upstream = {
  port: mock.port,
  embeddings: stand.embeddings().body,
  chat: JSON.stringify({
    model: 'bench-chat',
    messages: [{ role: 'user', content: 'The quick brown fox jumps over the lazy dog.' }],
  }),
}

const targets: Target[] = []
const absent: Absent[] = []
try {
  for (const start of starters()) {
    const one = await start()
    if ('absent' in one) absent.push(one)
    else targets.push(one)
  }
  const repeats = await interleave(targets, settings, progress)
  const rows = rowsOf('embeddings', repeats, settings)
  await keepRecord(
    {
      scenario: 'embeddings',
      question:
        "the cost of Sluice's checks and limits for an embeddings call: " +
        `${options.dimensions} floats per answer, a mock provider on the same machine, closed pace`,
      settings: {
        ...settings,
        dimensions: options.dimensions,
        latencyMs: options.latencyMs,
        answerBytes: mock.answerBytes,
      },
      subjects: targets.map(({ name, note }) => ({ name, note })),
      absent: absent.map(({ name, absent: reason }) => ({ name, reason })),
      rows,
      ratios: ratiosOver(rows, 'sluice', ['cpu_us_per_request', 'requests_per_second']),
      curves: [],
      checks: checks(repeats, rows),
      notes: [
        `the load generator, the mock provider and the servers share ${availableParallelism()} cores, ` +
          'so rates and latencies under load describe the whole setup',
      ],
    },
    options.json,
  )
} finally {
  for (const target of targets) await target.stop()
  await stand.stop()
  await heap.close()
}

function starters(): readonly (() => Promise<Target | Absent>)[] {
  const relayed = { providerPort: mock.port, body: upstream.embeddings, heap }
  const all: Readonly<Record<EmbeddingsTarget, () => Promise<Target | Absent>>> = {
    direct: () => Promise.resolve(direct()),
    nginx: () => startNginx(upstream),
    'sluice-ungoverned': () => startUngoverned(stand),
    sluice: () => Promise.resolve(gateway()),
    relay: () => startBareRelay('relay', relayed),
    'lean-relay': () => startBareRelay('lean-relay', relayed),
    haproxy: () => startHaproxy(upstream),
    fastify: () => startProxy('fastify', stand, { root: ROOT }),
    node: () => startProxy('node', stand, { root: ROOT }),
    portkey: () => startPortkey(ROOT, upstream),
  }
  return EMBEDDINGS_TARGETS.filter((name) => options.only.includes(name)).map((name) => all[name])
}

/** The node, whose front tells of its garbage. */
function gateway(): Target {
  const serving = stand.fronts()[0] ?? 0
  return { ...gatewayTarget(stand), heap: () => heap.read(serving) }
}

function direct(): Target {
  return {
    name: 'direct',
    pid: mock.pid,
    port: mock.port,
    request: {
      method: 'POST',
      path: '/v1/embeddings',
      headers: { 'content-type': 'application/json' },
      body: upstream.embeddings,
    },
    note: 'the mock provider without anything in between',
    stop: () => Promise.resolve(),
  }
}

/** The required figures of the gateway. */
function checks(
  repeats: ReadonlyMap<string, readonly Repeat[]>,
  rows: readonly ResultRow[],
): readonly CheckRecord[] {
  const rowsOfThe = (...names: readonly string[]): readonly ResultRow[] =>
    rows.filter((row) => names.includes(row.subject))
  const of = (name: string): readonly Repeat[] => repeats.get(name) ?? []
  const p50 = ({ alone }: Repeat): number => alone.latency_us?.p50 ?? Number.NaN
  const added = (name: string): readonly number[] => {
    const direct = of('direct').map(p50)
    return of(name).map((repeat, index) => p50(repeat) - (direct[index] ?? Number.NaN))
  }
  const addedRatio = eachRatio(added('sluice'), added('nginx'), (one) => one)
  const cpu = CPU_BOUNDS.flatMap(({ peer, over, atMost }) =>
    of('sluice').length === 0 || of(peer).length === 0
      ? []
      : [
          checkRecord(
            `CPU per request, sluice over ${over}`,
            eachRatio(of('sluice'), of(peer), ({ loaded }) => loaded.cpu_us_per_request),
            { bound: { atMost: atMost(options.dimensions) }, rows: rowsOfThe('sluice', peer) },
          ),
        ],
  )
  const heapBytes = spread(of('sluice').map(({ loaded }) => loaded.figures?.['heap_bytes'] ?? Number.NaN))
  return [
    ...cpu,
    ...(Number.isFinite(heapBytes.median)
      ? [
          checkRecord('bytes of garbage per request', heapBytes, {
            bound: { atMost: HEAP_BYTES_MAX },
            rows: rowsOfThe('sluice'),
          }),
        ]
      : []),
    ...(Number.isFinite(addedRatio.median)
      ? [
          checkRecord(`added p50, ${ALONE}, sluice over nginx`, addedRatio, {
            bound: { atMost: 3 },
            rows: rowsOfThe('sluice', 'nginx', 'direct'),
          }),
        ]
      : []),
  ]
}
