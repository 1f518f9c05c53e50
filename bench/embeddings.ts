/** `npm run bench -- embeddings`: what governing an embeddings call costs, against everybody else on the same rig. */
import { startStand } from '../test/support/stand.ts'
import { EMBEDDINGS_OPTIONS_TEXT, EMBEDDINGS_TARGETS, readEmbeddingsOptions, type EmbeddingsTarget } from './embeddings-options.ts'
import { gatewayTarget, startUngoverned } from './gateway.ts'
import { machine } from './machine.ts'
import { interleave, type Repeat, type Settings } from './measure.ts'
import { GENERATOR_CORES_MAX } from './record.ts'
import { spread } from './statistics.ts'
import { optionsOrExit } from './options.ts'
import { startNginx, startPortkey, type Upstream } from './peers.ts'
import { check, ratio, rowOf, table, type Check, type Report, type Row } from './report.ts'
import type { Absent, Target } from './target.ts'
import { keepReport, ROOT } from './text.ts'

const options = optionsOrExit(process.argv.slice(2), readEmbeddingsOptions, EMBEDDINGS_OPTIONS_TEXT)

const settings: Settings = {
  connections: options.connections,
  durationMs: options.seconds * 1_000,
  warmUpMs: 8_000,
  repeats: options.repeats,
}
const progress = (text: string): void => {
  process.stderr.write(`${text}\n`)
}

const facts = machine()
const stand = await startStand({
  dimensions: options.dimensions,
  latencyMs: options.latencyMs,
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
  const rows = targets.map((target) => rowOf(target.name, repeats.get(target.name) ?? []))
  const found = checks(repeats, rows)
  const report: Report = {
    scenario: 'embeddings',
    at: new Date().toISOString(),
    machine: facts,
    settings: {
      ...settings,
      dimensions: options.dimensions,
      latencyMs: options.latencyMs,
      answerBytes: mock.answerBytes,
    },
    rows,
    checks: found,
    notes: notes(),
  }
  await keepReport(report, { text: table(report), file: options.json })
  if (found.some((one) => !one.isMet)) process.exitCode = 1
} finally {
  for (const target of targets) await target.stop()
  await stand.stop()
}

function starters(): readonly (() => Promise<Target | Absent>)[] {
  const all: Readonly<Record<EmbeddingsTarget, () => Promise<Target | Absent>>> = {
    direct: () => Promise.resolve(direct()),
    nginx: () => startNginx(upstream),
    ungoverned: () => startUngoverned(stand),
    sluice: () => Promise.resolve(gatewayTarget(stand)),
    portkey: () => startPortkey(ROOT, upstream),
  }
  return EMBEDDINGS_TARGETS.filter((name) => options.only.includes(name)).map((name) => all[name])
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

/** The figures that the gateway was built to reach. */
function checks(repeats: ReadonlyMap<string, readonly Repeat[]>, rows: readonly Row[]): readonly Check[] {
  const rowsOf = (...names: readonly string[]): readonly Row[] => rows.filter((row) => names.includes(row.name))
  const of = (name: string): readonly Repeat[] => repeats.get(name) ?? []
  const cpu = (repeat: Repeat): number => repeat.loaded.cpuUs
  const added = (name: string): readonly number[] =>
    of(name).map((repeat, index) => repeat.alone.p50Ms - (of('direct')[index]?.alone.p50Ms ?? Number.NaN))
  const addedRatio = spread(
    added('sluice').flatMap((value, index) => {
      const other = added('nginx')[index]
      return other === undefined ? [] : [value / other]
    }),
  )
  const against = (text: string, name: string, atMost: number): readonly Check[] =>
    of('sluice').length === 0 || of(name).length === 0
      ? []
      : [
          check(`CPU a request, sluice over ${text}`, ratio(of('sluice'), of(name), cpu), {
            atMost,
            rows: rowsOf('sluice', name),
          }),
        ]
  return [
    ...against('our ungoverned pipeline', 'ungoverned', 1.25),
    ...against('nginx', 'nginx', 2.5),
    ...against('portkey', 'portkey', 1 / 20),
    ...(Number.isFinite(addedRatio.median)
      ? [
          check('added p50 at one connection, sluice over nginx', addedRatio, {
            atMost: 3,
            rows: rowsOf('sluice', 'nginx', 'direct'),
          }),
        ]
      : []),
  ]
}

function notes(): readonly string[] {
  return [
    ...targets.map((target) => `${target.name}: ${target.note}`),
    ...absent.map((one) => `${one.name}: left out, ${one.absent}`),
    `* the generator used more than ${GENERATOR_CORES_MAX} of a core: the rate is its limit, not the server's; CPU a request still holds`,
    `generator, mock and servers share ${facts.cores} cores: rates and latencies under load are those of the whole rig`,
  ]
}
