/**
 * `npm run bench -- chat`: what a governed stream costs an event and adds to its first output, and what a
 * whole answer costs, against other servers before the same paced provider.
 */
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { freePort, stopServer } from '../test/support/nodes/spawned.ts'
import { startStand, type Stand } from '../test/support/nodes/stand.ts'
import { treeCpuS } from '../test/support/load/process-cpu.ts'
import { startChild } from './chat/child.ts'
import type { GeneratorSettings, StreamFigures } from './chat/generator.ts'
import { CHAT_OPTIONS_TEXT, readChatOptions, type ChatTarget } from './chat/options.ts'
import type { PacerSettings } from './chat/pacer.ts'
import type { RelaySettings } from './chat/relay.ts'
import { keepRecord, progress } from './keep-record.ts'
import { interleave, rotated, rowsOf, type Settings } from './measure.ts'
import { optionsOrExit } from './options.ts'
import { startNginx, startPortkey, type Upstream } from './peers.ts'
import { eachRatio, ratiosOver } from './ratios.ts'
import { checkRecord, resultRow, type CheckRecord, type ResultRow, type SampleRecord } from './record.ts'
import type { Absent, Target } from './target.ts'
import { ROOT } from './text.ts'

const options = optionsOrExit(process.argv.slice(2), readChatOptions, CHAT_OPTIONS_TEXT)

const MODEL = 'bench/chat'
const MESSAGES = [{ role: 'user', content: 'The quick brown fox jumps over the lazy dog.' }]
const JSON_HEADERS = { 'content-type': 'application/json', authorization: 'Bearer bench' }
/** Connections of the row of whole answers. */
const WHOLE_CONNECTIONS = 48
const STREAMS = `${options.connections} streams, an event`
const ONE_STREAM = 'one stream at a time'
/** Events of such a stream: of whole ones a sample would have two. */
const SHORT_EVENTS = 5

const pacerPort = await freePort()
const pacing: PacerSettings = { port: pacerPort, events: options.events, intervalMs: options.intervalMs }
const pacer = await startChild('pacer', pacing)
const stand = await startStand({ catalogue: catalogue() })
const upstream: Upstream = {
  port: pacerPort,
  embeddings: '',
  chat: bodyOf('bench-model', false),
  isStream: true,
}
const settings: Settings = {
  connections: WHOLE_CONNECTIONS,
  durationMs: options.seconds * 1_000,
  warmUpMs: Math.min(4_000, 1_000 * options.seconds),
  repeats: options.repeats,
}

const targets: Target[] = []
const absent: Absent[] = []
try {
  for (const start of starters()) {
    const one = await start()
    if ('absent' in one) absent.push(one)
    else targets.push(one)
  }
  const streams = await streamRows()
  const whole = rowsOf('chat', await interleave(targets, settings, progress), settings).map((row) => ({
    ...row,
    case: `whole answers, ${row.case}`,
  }))
  const rows = [...streams, ...whole]
  await keepRecord(
    {
      scenario: 'chat',
      question: `what governing a chat costs: events of 330 bytes, one each ${options.intervalMs} ms, ${options.events} in a stream; whole answers of 2 KB`,
      settings: { ...settings, streams: options.connections, events: options.events },
      subjects: targets.map(({ name, note }) => ({ name, note })),
      absent: absent.map(({ name, absent: reason }) => ({ name, reason })),
      rows,
      ratios: ratiosOver(rows, 'sluice', ['cpu_us_per_request']),
      curves: [],
      checks: checks(rows),
      notes: [
        `rows of streams count events; their latency is the gap between two reads, that of "${ONE_STREAM}" the time to the first text`,
        `generator, provider and servers share ${availableParallelism()} cores`,
      ],
    },
    options.json,
  )
} finally {
  for (const target of targets) await target.stop()
  await stand.stop()
  await stopServer(pacer)
}

function catalogue(): object {
  const endpoint = {
    provider: 'paced',
    upstream_model: 'bench-model',
    pricing: { prompt: '0.000001', completion: '0.000002' },
  }
  const provider = {
    slug: 'paced',
    name: 'Paced',
    protocol: 'openai',
    base_url: `http://127.0.0.1:${pacerPort}/v1`,
  }
  const architecture = { input_modalities: ['text'], output_modalities: ['text'] }
  return {
    providers: [provider],
    models: [{ id: MODEL, name: 'Paced', architecture, context_length: 128_000, endpoints: [endpoint] }],
  }
}

/** @param events null: as many as the pacer's streams have */
function bodyOf(model: string, stream: boolean, events: number | null = null): string {
  const max = events === null ? null : { max_tokens: events }
  return JSON.stringify({ model, messages: MESSAGES, ...(stream ? { stream } : null), ...max })
}

function starters(): readonly (() => Promise<Target | Absent>)[] {
  const all: Readonly<Record<ChatTarget, () => Promise<Target | Absent>>> = {
    direct: () => Promise.resolve(direct()),
    nginx: async () => asChat(await startNginx(upstream)),
    relay: startRelay,
    sluice: () => Promise.resolve(gateway(stand)),
    portkey: async () => asChat(await startPortkey(ROOT, upstream)),
  }
  return options.only.map((name) => all[name])
}

/** A peer of the provider's own path. */
function asChat(target: Target | Absent): Target | Absent {
  if ('absent' in target) return target
  const { headers } = target.request
  return {
    ...target,
    request: { method: 'POST', path: '/v1/chat/completions', headers, body: bodyOf('bench-model', false) },
  }
}

function direct(): Target {
  return {
    name: 'direct',
    pid: pacer.pid ?? 0,
    port: pacerPort,
    request: {
      method: 'POST',
      path: '/v1/chat/completions',
      headers: JSON_HEADERS,
      body: bodyOf('bench-model', false),
    },
    note: 'the provider without anything in between',
    stop: () => Promise.resolve(),
  }
}

async function startRelay(): Promise<Target> {
  const port = await freePort()
  const asked: RelaySettings = { port, providerPort: pacerPort }
  const child = await startChild('relay', asked)
  return {
    name: 'relay',
    pid: child.pid ?? 0,
    port,
    request: direct().request,
    note: 'uWebSockets.js and undici, each read one write: no checks, no back-pressure, no errors, no metering',
    stop: () => stopServer(child),
  }
}

function gateway({ pid, port, keys }: Stand): Target {
  return {
    name: 'sluice',
    pid,
    port,
    request: {
      method: 'POST',
      path: '/api/v1/chat/completions',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${keys.inference_key}` },
      body: bodyOf(MODEL, false),
    },
    note: 'the whole node with one front: supervisor, front, runner, embedded Postgres and Redis; every event read, usage and cost metered',
    stop: () => Promise.resolve(),
  }
}

async function streamRows(): Promise<readonly ResultRow[]> {
  const found = new Map(targets.map(({ name }) => [name, { many: [] as Sample[], one: [] as Sample[] }]))
  // As the rows of whole answers: a node that has just started compiles its code, and loads a spare process.
  for (const target of targets) {
    progress(`streams, warming ${target.name}`)
    await streamed(target, options.connections, 'gaps')
  }
  for (let repeat = 0; repeat < options.repeats; repeat++) {
    for (const target of rotated(targets, repeat)) {
      progress(`streams, repeat ${repeat + 1} of ${options.repeats}: ${target.name}`)
      found.get(target.name)?.many.push(await streamed(target, options.connections, 'gaps'))
      found.get(target.name)?.one.push(await streamed(target, 1, 'first'))
    }
  }
  const row = (subject: string, name: string, samples: readonly Sample[], connections: number) =>
    resultRow(
      {
        scenario: 'chat',
        case: name,
        subject,
        pace: 'closed',
        connections,
        offered_per_second: null,
        payload_bytes: null,
      },
      samples,
    )
  return [
    ...[...found].map(([subject, { many }]) => row(subject, STREAMS, many, options.connections)),
    ...[...found].map(([subject, { one }]) => row(subject, ONE_STREAM, one, 1)),
  ]
}

type Sample = SampleRecord

async function streamed(target: Target, connections: number, of: 'gaps' | 'first'): Promise<Sample> {
  const { port, request } = target
  const model = target.name === 'sluice' ? MODEL : 'bench-model'
  const asked: GeneratorSettings = {
    port,
    connections,
    warmUpMs: settings.warmUpMs,
    durationMs: settings.durationMs,
    request: requestText(
      request.path,
      request.headers ?? {},
      bodyOf(model, true, connections === 1 ? SHORT_EVENTS : null),
    ),
  }
  const child = await startChild('generator', asked)
  await once(child, 'message')
  const before = treeCpuS(target.pid)
  const [figures] = (await once(child, 'message')) as [StreamFigures]
  const cpuS = treeCpuS(target.pid) - before
  await stopServer(child)
  const { events, firstMs, gapsMs, failures, cores } = figures
  return {
    cpu_us_per_request: (cpuS / Math.max(1, events)) * 1e6,
    cpu_s_per_gb: null,
    requests_per_second: (events / settings.durationMs) * 1_000,
    mb_per_second: null,
    latency_us: percentilesUs(of === 'gaps' ? gapsMs : firstMs),
    rss_mb: null,
    generator_cores: cores,
    failed: failures.length + (events === 0 ? 1 : 0),
    failures: events === 0 ? ['no event came', ...failures] : failures,
  }
}

function requestText(path: string, headers: Readonly<Record<string, string>>, body: string): string {
  const lines = Object.entries({ host: '127.0.0.1', ...headers, 'content-length': String(body.length) })
  return `POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`
}

function percentilesUs(values: readonly number[]): SampleRecord['latency_us'] {
  if (values.length === 0) return null
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number): number =>
    (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0) * 1_000
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), p99_9: at(0.999), max: at(1) }
}

/** The required figures of the gateway. */
function checks(rows: readonly ResultRow[]): readonly CheckRecord[] {
  const rowOf = (subject: string, name: string): ResultRow | undefined =>
    rows.find((row) => row.subject === subject && row.case === name)
  const cpu = (text: string, name: string, peer: string, atMost: number): readonly CheckRecord[] => {
    const [ours, theirs] = [rowOf('sluice', name), rowOf(peer, name)]
    if (ours === undefined || theirs === undefined) return []
    const found = eachRatio(ours.samples, theirs.samples, ({ cpu_us_per_request }) => cpu_us_per_request)
    return [checkRecord(text, found, { bound: { atMost }, rows: [ours, theirs] })]
  }
  const [ours, nginx, bare] = ['sluice', 'nginx', 'direct'].map((name) => rowOf(name, ONE_STREAM))
  const added = (row: ResultRow | undefined): readonly number[] =>
    (row?.samples ?? []).map(
      (one, at) => (one.latency_us?.p50 ?? NaN) - (bare?.samples[at]?.latency_us?.p50 ?? NaN),
    )
  const addedRatio = eachRatio(added(ours), added(nginx), (one) => one)
  return [
    ...cpu('CPU of an event, sluice over nginx', STREAMS, 'nginx', 2.2),
    ...cpu('CPU of an event, sluice over a bare relay on its libraries', STREAMS, 'relay', 1.3),
    ...cpu('CPU of an event, sluice over portkey', STREAMS, 'portkey', 1 / 4),
    ...cpu(
      'CPU of a whole answer, sluice over nginx',
      `whole answers, ${WHOLE_CONNECTIONS} connections`,
      'nginx',
      2.5,
    ),
    ...(ours !== undefined && nginx !== undefined && Number.isFinite(addedRatio.median)
      ? [
          checkRecord('added time to the first output, p50, sluice over nginx', addedRatio, {
            bound: { atMost: 3 },
            rows: [ours, nginx],
          }),
        ]
      : []),
  ]
}
