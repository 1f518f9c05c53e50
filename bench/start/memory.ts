/** `npm run bench -- start --memory`: what a node takes at rest, and for what callers hold open. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, pause, stopServer } from '../../test/support/nodes/spawned.ts'
import { outsidePostgres, outsideRedis } from '../../test/support/nodes/outside-stores.ts'
import { startStand, type Stand } from '../../test/support/nodes/stand.ts'
import { startChild } from '../chat/child.ts'
import type { PacerSettings } from '../chat/pacer.ts'
import { progress } from '../keep-record.ts'
import {
  bareSample,
  checkRecord,
  resultRow,
  type CheckRecord,
  type ResultRow,
  type SampleRecord,
} from '../record.ts'
import { spread } from '../statistics.ts'
import type { Absent } from '../target.ts'
import { watchRest, type RestReading } from './at-rest.ts'
import { holdOpen, type HeldFigure, type HeldKind } from './held.ts'
import type { StartOptions } from './options.ts'

/** Share of one core that all processes of an idle node may take. */
const REST_CPU_SHARE_MAX = 0.01
/** Private MB of all processes of a fresh idle node, by its stores. */
const REST_MB_MAX = { embedded: 170, external: 110 } as const
const MODEL = 'bench/chat'
/** Milliseconds between two events of a held stream, and events of one. */
const [EVENT_MS, EVENTS] = [1_000, 120]
/** Bytes of an upload that are sent, and bytes that its head promises. */
const [UPLOAD_SENT, UPLOAD_BYTES] = [512 * 1_024, 8 * 1_024 * 1_024]

type Stores = keyof typeof REST_MB_MAX

export interface MemoryFindings {
  readonly rows: readonly ResultRow[]
  readonly checks: readonly CheckRecord[]
  readonly notes: readonly string[]
  readonly absent: readonly Absent[]
}

export async function measureMemory(options: StartOptions): Promise<MemoryFindings> {
  const readings = { embedded: [] as RestReading[], external: [] as RestReading[] }
  const held: HeldFigure[] = []
  const absent: Absent[] = []
  for (let repeat = 1; repeat <= options.repeats; repeat++) {
    progress(`repeat ${repeat} of ${options.repeats}: a fresh node with embedded stores`)
    readings.embedded.push(await ofEmbedded(options, repeat === 1 ? held : null))
    progress(`repeat ${repeat} of ${options.repeats}: a fresh node with external stores`)
    const external = await ofExternal(options)
    if ('absent' in external) absent.push(external)
    else readings.external.push(external)
  }
  const both = (['embedded', 'external'] as const).filter((stores) => readings[stores].length > 0)
  return {
    rows: [...both.map((stores) => restRow(stores, readings[stores])), ...held.map(heldRow)],
    checks: both.flatMap((stores) => checksOf(stores, readings[stores])),
    absent: absent.slice(0, 1),
    notes: [
      `a request of a node at rest is a second without calls, from ${options.settle} s behind its start`,
      'memory of a node at rest is private: pages that no other process of the machine shares',
      'memory of what is held open is the growth of the private memory of the node for each',
      ...both.flatMap((stores) => linesOf(stores, readings[stores])),
      ...held.map(({ name, count, bytesEach }) => `${name}: ${kb(bytesEach)} KB each, of ${count}`),
    ],
  }
}

/** @param held takes the figures of what is held open; null: they are not measured */
async function ofEmbedded(options: StartOptions, held: HeldFigure[] | null): Promise<RestReading> {
  const pacing: PacerSettings = { port: await freePort(), events: EVENTS, intervalMs: EVENT_MS }
  const pacer = await startChild('pacer', pacing)
  const stand = await startStand({ catalogue: catalogueOf(pacing.port) })
  try {
    await pause(options.settle * 1_000)
    const reading = await watchRest(stand.pid, options.seconds)
    for (const kind of held === null ? [] : kindsOf(stand)) {
      progress(`${kind.count} of: ${kind.name}`)
      held?.push(await holdOpen(stand, kind))
    }
    return reading
  } finally {
    await stand.stop()
    await stopServer(pacer)
  }
}

async function ofExternal(options: StartOptions): Promise<RestReading | Absent> {
  const redis = await outsideRedis()
  if (redis === null)
    return {
      name: 'external stores',
      absent: 'redis-server is not on the PATH; `apt-get install redis-server` or the like adds it',
    }
  const postgres = await outsidePostgres({ isSynced: true })
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-rest-'))
  try {
    const stand = await startStand({ settings: { DATABASE_URL: postgres.url, REDIS_URL: redis.url } })
    try {
      await pause(options.settle * 1_000)
      return await watchRest(stand.pid, options.seconds)
    } finally {
      await stand.stop()
    }
  } finally {
    await postgres.close()
    await redis.close()
    await rm(folder, { recursive: true, force: true })
  }
}

function catalogueOf(pacerPort: number): object {
  return {
    providers: [
      { slug: 'paced', name: 'Paced', protocol: 'openai', base_url: `http://127.0.0.1:${pacerPort}/v1` },
    ],
    models: [
      {
        id: MODEL,
        name: 'Paced',
        architecture: { input_modalities: ['text'], output_modalities: ['text'] },
        context_length: 128_000,
        endpoints: [
          {
            provider: 'paced',
            upstream_model: 'bench-model',
            pricing: { prompt: '0.000001', completion: '0.000002' },
          },
        ],
      },
    ],
  }
}

function kindsOf({ keys }: Stand): readonly HeldKind[] {
  const authorization = `authorization: Bearer ${keys.inference_key}`
  const chat = JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'x' }], stream: true })
  const part =
    '--x\r\ncontent-disposition: form-data; name="file"; filename="a.bin"\r\ncontent-type: application/octet-stream\r\n\r\n'
  const request = (line: string, headers: readonly string[], body: string | Buffer): Buffer =>
    Buffer.concat([
      Buffer.from([line, 'host: 127.0.0.1', authorization, ...headers, '', ''].join('\r\n')),
      Buffer.from(body),
    ])
  const json = ['content-type: application/json', `content-length: ${chat.length}`]
  const form = ['content-type: multipart/form-data; boundary=x', `content-length: ${UPLOAD_BYTES}`]
  return [
    {
      name: 'idle connections',
      count: 1_000,
      bytes: request('GET /api/v1/models/count HTTP/1.1', [], ''),
    },
    {
      name: 'open streams',
      count: 200,
      bytes: request('POST /api/v1/chat/completions HTTP/1.1', json, chat),
    },
    {
      name: 'unfinished uploads',
      count: 32,
      bytes: request(
        'POST /api/v1/files HTTP/1.1',
        form,
        Buffer.concat([Buffer.from(part), Buffer.alloc(UPLOAD_SENT)]),
      ),
    },
  ]
}

function checksOf(stores: Stores, readings: readonly RestReading[]): readonly CheckRecord[] {
  const row = restRow(stores, readings)
  return [
    checkRecord(
      `share of a core at rest, ${stores} stores`,
      spread(readings.map(({ cpuShare }) => cpuShare)),
      { bound: { atMost: REST_CPU_SHARE_MAX }, rows: [row] },
    ),
    checkRecord(
      `private MB at rest, ${stores} stores`,
      spread(readings.map(({ privateBytes }) => privateBytes / 1e6)),
      { bound: { atMost: REST_MB_MAX[stores] }, rows: [row] },
    ),
  ]
}

/** One line for each kind of process, of the first reading. */
function linesOf(stores: Stores, [first]: readonly RestReading[]): readonly string[] {
  return (first?.kinds ?? []).map(
    ({ kind, processes, privateBytes, cpuShare, switchesPerS }) =>
      `${stores} stores, ${kind} (${processes}): ${(privateBytes / 1e6).toFixed(1)} MB private, ` +
      `${(cpuShare * 100).toFixed(2)} % of a core, ${switchesPerS.toFixed(0)} switches/s`,
  )
}

function restRow(stores: Stores, readings: readonly RestReading[]): ResultRow {
  return rowOf(
    `at rest, ${stores} stores`,
    readings.map(({ cpuShare, privateBytes }) => sampleOf(cpuShare * 1e6, privateBytes)),
  )
}

function heldRow({ name, bytesEach }: HeldFigure): ResultRow {
  return rowOf(`one of many ${name}`, [sampleOf(Number.NaN, bytesEach)])
}

function rowOf(name: string, samples: readonly SampleRecord[]): ResultRow {
  return resultRow(
    {
      scenario: 'start',
      case: name,
      subject: 'sluice',
      pace: 'closed',
      connections: 0,
      offered_per_second: null,
      payload_bytes: null,
    },
    samples,
  )
}

function sampleOf(cpuUs: number, bytes: number): SampleRecord {
  return bareSample(cpuUs, { rss_mb: bytes / 1e6 })
}

function kb(bytes: number): string {
  return (bytes / 1e3).toFixed(1)
}
