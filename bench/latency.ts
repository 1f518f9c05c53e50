/**
 * `npm run bench -- latency`: the latency of callers at a given load, from a tenth of the machine's ceiling
 * to nine tenths.
 */
import { availableParallelism } from 'node:os'
import { startStand } from '../test/support/nodes/stand.ts'
import { gatewayTarget, startUngoverned } from './gateway.ts'
import { keepRecord, progress } from './keep-record.ts'
import { LATENCY_OPTIONS_TEXT, readLatencyOptions, type LatencySubject } from './latency/options.ts'
import {
  GENERATOR_LATE_MS_MAX,
  lateNotes,
  latencyCurves,
  latencySteps,
  stepRows,
  type Stepped,
} from './latency/steps.ts'
import { optionsOrExit } from './options.ts'
import { startNginx } from './peers.ts'
import { startProxy } from './peers/proxies.ts'
import { ratiosOver } from './ratios.ts'
import type { Absent, Target } from './target.ts'
import { ROOT } from './text.ts'

const SCENARIO = 'latency'
const options = optionsOrExit(process.argv.slice(2), readLatencyOptions, LATENCY_OPTIONS_TEXT)
const settings = {
  connections: options.connections,
  durationMs: options.seconds * 1_000,
  warmUpMs: 3_000,
  repeats: options.repeats,
  shares: options.shares,
}

const stand = await startStand({ dimensions: options.dimensions })
const starters: Readonly<Record<LatencySubject, () => Promise<Target | Absent>>> = {
  sluice: () => Promise.resolve(gatewayTarget(stand)),
  'sluice-ungoverned': () => startUngoverned(stand),
  nginx: () => startNginx({ port: stand.mock.port, embeddings: stand.embeddings().body, chat: '' }),
  fastify: () => startProxy('fastify', stand, { root: ROOT }),
  node: () => startProxy('node', stand, { root: ROOT }),
}
const targets: Target[] = []
const absent: Absent[] = []
try {
  for (const name of options.against) {
    const one = await starters[name]()
    if ('absent' in one) absent.push(one)
    else targets.push(one)
  }
  const steps = await latencySteps(
    [...targets.map((target) => ({ of: 'embeddings', target })), smallRead()],
    settings,
    progress,
  )
  const rows = stepRows(SCENARIO, steps)
  await keepRecord(
    {
      scenario: SCENARIO,
      question:
        'what a caller waits for at 10 to 90 % of what each subject holds on this rig, at fixed rates',
      settings: {
        ...settings,
        shares: settings.shares.join(','),
        dimensions: options.dimensions,
        answerBytes: stand.mock.answerBytes,
      },
      subjects: targets.map(({ name, note }) => ({ name, note })),
      absent: absent.map(({ name, absent: reason }) => ({ name, reason })),
      rows,
      ratios: ratiosOver(rows, 'sluice', ['cpu_us_per_request']),
      curves: latencyCurves(SCENARIO, rows),
      checks: [],
      notes: [
        "the ceiling is each subject's own, of a closed loop on the same rig in the same run; latency counts from when a request was due, sent or not",
        `generator, mock and servers share ${availableParallelism()} cores: the more the offered load, the more they wait for each other`,
        `* beside a fixed rate also: the generator was later than ${GENERATOR_LATE_MS_MAX} ms at its 99th percentile`,
        ...lateNotes(steps),
      ],
    },
    options.json,
  )
} finally {
  for (const target of targets) await target.stop()
  await stand.stop()
}

/** A read of the shipped catalogue, which the front answers from memory after the key check. */
function smallRead(): Stepped {
  const path = '/api/v1/model/openai/text-embedding-3-small'
  return {
    of: 'a small read',
    target: { ...gatewayTarget(stand), request: { ...stand.embeddings(), method: 'GET', path, body: '' } },
  }
}
