/**
 * `npm run bench -- [embeddings latency operations uploads] --target URL --key KEY`: a load test of a running
 * deployment, within limits.
 */
import { askerOf, type Place } from './deployment/ask.ts'
import { drive, type Driving } from './deployment/drive.ts'
import type { Driven } from './deployment/driven.ts'
import { FAILED_SHARE_MAX, REACH_MS } from './deployment/limits.ts'
import { listenerOf } from './deployment/local-server.ts'
import { DEPLOYMENT_OPTIONS_TEXT, readDeploymentOptions } from './deployment/options.ts'
import { isLoopback } from './deployment/origin.ts'
import { cellsOf, summaryOf, type Cell } from './deployment/plan.ts'
import { problemOf, reach } from './deployment/reach.ts'
import { latencyCurve, rowOf, SUBJECT } from './deployment/rows.ts'
import { keepRecord, progress } from './keep-record.ts'
import { optionsOrExit } from './options.ts'
import type { ScenarioRecord } from './record.ts'

const options = optionsOrExit(process.argv.slice(2), readDeploymentOptions, DEPLOYMENT_OPTIONS_TEXT)
const { origin, key, issuers, json, repeats } = options

/**
 * Aborted by the first signal: the program ends what it began and removes uploaded files before it exits. A
 * second signal ends the program at once.
 */
const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort())

progress(summaryOf(options))
const reached = await reach(origin, { key, issuers }, { method: 'GET', path: '/api/v1/key' })
if ('problem' in reached) giveUp(reached.problem)
else await test(reached.place)

async function test(place: Place): Promise<void> {
  const { cells, absent, problem } = await answeredOnce(place, cellsOf(options))
  if (problem !== null) return giveUp(problem)
  const server = isLoopback(place.address) ? listenerOf(origin.port) : null
  const found = new Map<Cell, Driven[]>(cells.map((cell) => [cell, []]))
  const left = await driveAll(place, { found, localPid: server?.pid ?? null })
  const rows = [...found].flatMap(([cell, all]) =>
    all.length === 0
      ? []
      : [
          rowOf(
            cell,
            all.map(({ sample }) => sample),
          ),
        ],
  )
  const { rate, seconds, connections, model, payloadBytes } = options
  await keepRecord(
    {
      scenario: 'deployment',
      question: `what a running deployment answers to at most ${rate} requests per second`,
      settings: {
        target: origin.text,
        rate,
        seconds,
        repeats,
        connections,
        model,
        payload_bytes: payloadBytes,
      },
      subjects: [{ name: SUBJECT, note: whereText(place, server?.name ?? null) }],
      absent,
      rows,
      ratios: [],
      curves: latencyCurve(rows),
      checks: [],
      notes: [...limitedNotes(found), ...left],
    },
    json,
  )
  if (left.length > 0) process.exitCode = 1
}

/**
 * Sends each kind of request once: a cell without an answer is left out, and a failed embedding ends the
 * test.
 */
async function answeredOnce(
  place: Place,
  cells: readonly Cell[],
): Promise<{
  readonly cells: readonly Cell[]
  readonly absent: ScenarioRecord['absent']
  readonly problem: string | null
}> {
  const asker = askerOf(place, 1)
  const [kept, absent]: [Cell[], ScenarioRecord['absent'][number][]] = [[], []]
  try {
    const embedding = cells.find(({ load }) => load === 'embeddings' || load === 'latency')
    const first = embedding === undefined ? null : await asker.ask(embedding.request, REACH_MS)
    if (first !== null && !('answer' in first && first.answer.status === 200))
      return { cells: [], absent, problem: problemOf(first, place) }
    for (const cell of cells) {
      const outcome = cell.load === 'operations' ? await asker.ask(cell.request, REACH_MS) : null
      if (outcome === null || ('answer' in outcome && outcome.answer.status === 200)) kept.push(cell)
      else
        absent.push({
          name: cell.case,
          reason: 'answer' in outcome ? `this key gets ${outcome.answer.status}` : outcome.code,
        })
    }
  } finally {
    asker.close()
  }
  return { cells: kept, absent, problem: null }
}

/** @returns one sentence for each cell that was left out */
async function driveAll(
  place: Place,
  { found, localPid }: { readonly found: Map<Cell, Driven[]>; readonly localPid: number | null },
): Promise<readonly string[]> {
  for (let repeat = 0; repeat < repeats; repeat++) {
    for (const [cell, all] of found) {
      progress(
        `${repeats === 1 ? '' : `repeat ${repeat + 1} of ${repeats}: `}${cell.case}, ${cell.seconds} s`,
      )
      const driven = await driveOnce(cell, { place, localPid, signal: interrupted.signal })
      if (driven === null) return ['interrupted: the rest was left out']
      all.push(driven)
      const { sample, requests } = driven
      progress(`  ${drivenText(driven)}`)
      if (sample.failed > FAILED_SHARE_MAX * Math.max(1, requests)) {
        const text = `${cell.case}: ${sample.failed} of ${Math.max(1, requests)} failed (${sample.failures[0] ?? 'no reason'}): the rest was left out`
        progress(text)
        return [text]
      }
    }
  }
  return []
}

/** Null after an interruption: the generator may have been interrupted too and has no figures then. */
async function driveOnce(cell: Cell, driving: Driving): Promise<Driven | null> {
  const driven = driving.signal.aborted
    ? null
    : await drive(cell, driving).catch((problem: unknown) => {
        if (driving.signal.aborted) return null
        throw problem
      })
  return driving.signal.aborted ? null : driven
}

function drivenText({ sample, limited }: Driven): string {
  const apart = limited === 0 ? '' : `, ${limited} limited (429)`
  return `${sample.requests_per_second.toFixed(1)}/s${apart}${sample.failed === 0 ? '' : `, ${sample.failed} failed`}`
}

function limitedNotes(found: ReadonlyMap<Cell, readonly Driven[]>): readonly string[] {
  return [...found].flatMap(([cell, all]) => {
    const [limited, requests] = [
      all.reduce((sum, one) => sum + one.limited, 0),
      all.reduce((sum, one) => sum + one.requests, 0),
    ]
    const heeded = cell.pace.kind === 'open' ? 'a fixed rate goes on all the same' : 'Retry-After was heeded'
    return limited === 0
      ? []
      : [
          `${cell.case}: ${limited} of ${requests} answers were 429 (the limit of the key; no failure, not in the rate; ${heeded})`,
        ]
  })
}

function whereText(place: Place, server: string | null): string {
  const address = place.origin.hostname === place.address ? '' : ` at ${place.address}`
  const cpu =
    server === null
      ? 'CPU and memory of another machine are not known'
      : `CPU is of ${server} here and all processes below it`
  return `${origin.text}${address}; ${cpu}; latency has the way there and back in it`
}

function giveUp(problem: string): void {
  process.stderr.write(`${problem}\n`)
  process.exitCode = 1
}
