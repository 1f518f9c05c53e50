/**
 * `npm run bench -- ladder`: what each part that governs a call costs. A bare relay comes first, then one
 * part at a time, each the product's own code, until the whole node; with `--chat` for calls of chat.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { availableParallelism } from 'node:os'
import { freePort, stopServer } from '../test/support/nodes/spawned.ts'
import { startStand, type Stand } from '../test/support/nodes/stand.ts'
import { startChild } from './chat/child.ts'
import { FORMS } from './chat/forms.ts'
import type { PacerSettings } from './chat/pacer.ts'
import { catalogue } from './chat/subjects.ts'
import { openHeapWatch } from './heap/heap.ts'
import { keepRecord, progress } from './keep-record.ts'
import { ladderChecks, ladderNotes, ladderRows, stepsOf, topOf } from './ladder/findings.ts'
import { climb } from './ladder/measure.ts'
import { LADDER_OPTIONS_TEXT, readLadderOptions } from './ladder/options.ts'
import { RUNG_PREFIX, rungsOf, TRACING, UNLOGGED, type LadderCall } from './ladder/rungs.ts'
import {
  holdComparison,
  nodeSubject,
  startChatRelay,
  startRelaySubject,
  startRung,
  unloggedSubject,
  type LadderRig,
  type LadderSubject,
} from './ladder/subjects.ts'
import { ratedKey } from './limits/owners.ts'
import { optionsOrExit } from './options.ts'
import { ratiosOver } from './ratios.ts'
import type { CheckRecord, ResultRow } from './record.ts'

/** Requests a minute that no run reaches: the limit counts every call and refuses none. */
const AMPLE_RPM = 1_000_000_000
/** Of a stream: three seconds of it. */
const [STREAM_EVENTS, STREAM_INTERVAL_MS] = [152, 20]

const options = optionsOrExit(process.argv.slice(2), readLadderOptions, LADDER_OPTIONS_TEXT)
const { dimensions, only, repeats } = options
// A front compiles its hot code in its first ten thousands of calls.
const settings = { durationMs: options.seconds * 1_000, warmUpMs: 12_000, repeats }

/** A ladder that was climbed. */
interface Climbed {
  readonly subjects: readonly Pick<LadderSubject, 'name' | 'note' | 'below'>[]
  readonly rows: readonly ResultRow[]
  readonly checks: readonly CheckRecord[]
  readonly notes: readonly string[]
}

const heap = await openHeapWatch()
/** Takes the spans of the rung `tracing`, and drops them. */
const receiver = createServer(
  (request, response) => void request.resume().on('end', () => response.end('{}')),
)
await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
const pacing: PacerSettings = {
  port: await freePort(),
  events: STREAM_EVENTS,
  intervalMs: STREAM_INTERVAL_MS,
}
const isChat = !options.calls.includes('embeddings')
const pacer = isChat ? await startChild('pacer', pacing) : null
const stand = await startNode()
await holdComparison(stand)
try {
  const apiKey = await ratedKey(stand, AMPLE_RPM)
  const ladders: Climbed[] = []
  for (const call of options.calls) ladders.push(await climbed(call, apiKey))
  const rows = ladders.flatMap((ladder) => ladder.rows)
  await keepRecord(
    {
      scenario: 'ladder',
      question: isChat
        ? 'what each part that governs a call of chat costs, one part after the other over a bare relay'
        : `what each part that governs an embeddings call costs: ${dimensions} floats an answer, one part after the other over a bare relay`,
      settings: isChat
        ? {
            ...settings,
            connections: options.connections,
            streams: options.streams,
            events: STREAM_EVENTS,
            intervalMs: STREAM_INTERVAL_MS,
          }
        : {
            ...settings,
            connections: options.connections,
            dimensions,
            answerBytes: stand.mock.answerBytes,
          },
      subjects: (ladders[0]?.subjects ?? []).map(({ name, note, below }) => ({
        name,
        note,
        ...(below === null ? {} : { below }),
      })),
      absent: [],
      rows,
      ratios: ratiosOver(
        rows.filter(({ subject }) => !subject.startsWith(RUNG_PREFIX)),
        'sluice',
        ['cpu_us_per_request'],
      ),
      curves: [],
      checks: ladders.flatMap((ladder) => ladder.checks),
      notes: [
        ...ladders.flatMap((ladder) => ladder.notes),
        `generator, provider and servers share ${availableParallelism()} cores; the slower a subject is, the more of its sends wake a peer`,
        'the fronts of the rungs run the modules as they are, the node runs them joined; both have the same options',
        'the comparison of the request log with the ledger is held: rungs pay from the same ledger without that log',
        'stores that a rung shares with the node count less what they use at rest; the time behind a load in which the ledger is written counts',
      ],
    },
    options.json,
  )
} finally {
  await stand.stop()
  if (pacer !== null) await stopServer(pacer)
  receiver.close()
  await heap.close()
}

/** The whole node of the ladders, before the provider of their calls. */
function startNode(more: Readonly<Record<string, string>> = {}): Promise<Stand> {
  return startStand({
    dimensions,
    settings: { ...heap.inherited, ...more },
    ...(isChat && { catalogue: catalogue(pacing.port) }),
  })
}

async function climbed(call: LadderCall, apiKey: string): Promise<Climbed> {
  const { port } = receiver.address() as AddressInfo
  const providerPort = isChat ? pacing.port : stand.mock.port
  const rig: LadderRig = { stand, heap, apiKey, call, providerPort, spansTo: `http://127.0.0.1:${port}` }
  const subjects: LadderSubject[] = []
  try {
    await startSubjects(rig, subjects)
    const isEvent = call === 'event'
    const connections = isEvent ? options.streams : options.connections
    // A sample of streams has as many that begin as end.
    const durationMs = isEvent
      ? Math.max(settings.durationMs, STREAM_EVENTS * STREAM_INTERVAL_MS)
      : settings.durationMs
    const counts = isEvent ? FORMS.chat : 'calls'
    const samples = await climb(subjects, { stand, ...settings, durationMs, connections, counts, progress })
    const rows = ladderRows(samples, connections, caseOf(call, connections))
    const steps = stepsOf(rows, subjects)
    const judged = {
      rows,
      steps,
      top: topOf(subjects, RUNG_PREFIX + TRACING.name),
      dimensions: isChat ? null : dimensions,
      prefix: isChat ? `${call}: ` : '',
    }
    return { subjects, rows, checks: ladderChecks(judged), notes: ladderNotes(judged) }
  } finally {
    for (const subject of subjects) await subject.stop()
  }
}

function caseOf(call: LadderCall, connections: number): string {
  if (call === 'event') return `${connections} streams, per event`
  return `${call === 'whole' ? 'whole answers, ' : ''}${connections} connections`
}

/** @param subjects gets each subject that has started, so that all of them are stopped */
async function startSubjects(rig: LadderRig, subjects: LadderSubject[]): Promise<void> {
  for (const name of ['relay', 'lean-relay'] as const) {
    if (!only.includes(name)) continue
    if (!isChat) subjects.push(await startRelaySubject(name, rig))
    else if (name === 'relay') subjects.push(await startChatRelay(rig))
  }
  for (const rung of rungsOf(only, rig.call)) subjects.push(await startRung(rung, rig))
  const top = topOf(subjects, RUNG_PREFIX + TRACING.name)
  if (only.includes('unlogged')) subjects.push(await startUnlogged(rig.call, top))
  if (only.includes('sluice')) subjects.push(nodeSubject(rig, only.includes('unlogged') ? UNLOGGED : top))
}

async function startUnlogged(call: LadderCall, below: string | null): Promise<LadderSubject> {
  const quiet = await startNode({ SLUICE_KEEP_REQUESTS: 'off' })
  return unloggedSubject({ stand: quiet, heap, call, apiKey: await ratedKey(quiet, AMPLE_RPM) }, below)
}
