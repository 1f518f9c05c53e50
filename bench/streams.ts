/**
 * `npm run bench -- --target URL --key KEY --stream`: a load test of the streams of a running deployment,
 * within limits.
 */
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { askerOf, type Place } from './deployment/ask.ts'
import { problemOf, reachable } from './deployment/reach.ts'
import { keepRecord, progress } from './keep-record.ts'
import { optionsOrExit } from './options.ts'
import type { StreamsResult } from './streams/cell.ts'
import { CSV_HEAD } from './streams/csv.ts'
import { DIALECT_FACTS } from './streams/dialects.ts'
import { randomOf } from './streams/draws.ts'
import { runCell } from './streams/drive.ts'
import { writeHdr } from './streams/hdr.ts'
import { STREAM_SILENCE_MS_MAX } from './streams/limits.ts'
import { readStreamsOptions, secondsOf, STREAMS_OPTIONS_TEXT } from './streams/options.ts'
import { bodiesOf } from './streams/prompts.ts'
import {
  cellName,
  curvesOf,
  headlineOf,
  notesOf,
  rowOf,
  SCENARIO,
  SUBJECT,
  type FoundCell,
} from './streams/rows.ts'
import { writeProblem } from './suite/writable.ts'

const options = optionsOrExit(process.argv.slice(2), readStreamsOptions, STREAMS_OPTIONS_TEXT)
const { origin, key, issuers, dialect, model, rates, repeats, seconds, connections, seed } = options
const facts = DIALECT_FACTS[dialect]

/**
 * Aborted by the first signal: no further call begins, and the figures so far are kept. A second signal ends
 * the program at once.
 */
const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort())

progress(
  `load test of ${origin.text}${options.basePath}${facts.path}: streams of ${model}, ` +
    `${rates.length === 0 ? `${connections} at once` : `${rates.join(', ')} calls/s`}, up to ${secondsOf(options)} s`,
)
const files = [options.csv, options.hdr].filter((file) => file !== null)
const unwritable = (await Promise.all(files.map(writeProblem))).find((problem) => problem !== null)
const reached =
  typeof unwritable === 'string'
    ? { problem: unwritable }
    : await Promise.race([firstStream(), interruption()])
if ('problem' in reached) {
  giveUp(reached.problem)
  // The first stream may still be open.
  process.exit()
} else await test(reached.place)

/** @returns once the first signal came */
async function interruption(): Promise<{ readonly problem: string }> {
  await once(interrupted.signal, 'abort')
  return { problem: 'interrupted before the load began' }
}

/** Sends one call and reads its whole stream, so that a target which refuses it gets no load. */
async function firstStream(): Promise<{ readonly place: Place } | { readonly problem: string }> {
  const { value: body } = bodiesOf(options.prompts, { dialect, model, random: randomOf(seed) }).next()
  const headers = { 'content-type': 'application/json', ...facts.headers }
  const question = { method: 'POST', path: `${options.basePath}${facts.path}`, headers, body }
  return reachable(origin, { key, issuers }, async (place) => {
    const asker = askerOf(place, 1)
    const outcome = await asker.ask(question, STREAM_SILENCE_MS_MAX)
    asker.close()
    const isGood = 'answer' in outcome && outcome.answer.status === 200
    if (!isGood) return { outcome, problem: problemOf(outcome, place, STREAM_SILENCE_MS_MAX) }
    const type = outcome.answer.headers['content-type'] ?? 'no type'
    return /^text\/event-stream\b/i.test(type)
      ? { outcome, problem: null }
      : { outcome, problem: `${origin.text} answers ${type} to a streamed call, not text/event-stream` }
  })
}

async function test(place: Place): Promise<void> {
  const startedAtMs = Date.now()
  if (options.csv !== null) {
    rmSync(options.csv, { force: true })
    writeFileSync(options.csv, CSV_HEAD)
  }
  const cells = await driveAll(place)
  const rows = cells.map((cell) => rowOf(cell, options))
  if (options.hdr !== null) writeHdr(options.hdr, cells, startedAtMs)
  const headline = headlineOf(rows, options)
  progress(headline)
  await keepRecord(
    {
      scenario: SCENARIO,
      question: `how long callers of a running deployment wait for tokens: streams of ${dialect}`,
      headline,
      settings: {
        target: `${origin.text}${options.basePath}`,
        model,
        dialect,
        seconds,
        repeats,
        connections,
        seed,
        ...(rates.length > 0 && { rates: rates.join(' '), arrivals: options.arrivals }),
      },
      subjects: [
        {
          name: SUBJECT,
          note: `${origin.text}; latency is from when a call was due to its first token, with the way there and back in it`,
        },
      ],
      absent: [],
      rows,
      ratios: [],
      curves: curvesOf(cells, rows),
      checks: [],
      notes: notesOf(cells),
    },
    options.json,
  )
  if (interrupted.signal.aborted || cells.some(({ results }) => results.some((one) => one.isStopped)))
    process.exitCode = 1
}

/** The cells that were run; the test ends with a cell in which too many calls failed. */
async function driveAll(place: Place): Promise<readonly FoundCell[]> {
  const paces = rates.length === 0 ? [null] : rates
  const found = paces.map((ratePerS) => ({
    name: cellName(ratePerS, options),
    ratePerS,
    results: [] as StreamsResult[],
  }))
  for (let repeat = 0; repeat < repeats; repeat++)
    for (const cell of found) {
      progress(`${repeats === 1 ? '' : `repeat ${repeat + 1} of ${repeats}: `}${cell.name}, ${seconds} s`)
      const result = await runCell({
        options,
        place,
        ...cell,
        seed: seed + repeat,
        signal: interrupted.signal,
      }).catch(giveUpCell)
      if (result !== null) cell.results.push(result)
      if (result === null || result.isStopped) return found.filter(({ results }) => results.length > 0)
    }
  return found
}

/** The figures of the cells before are kept. */
function giveUpCell(problem: Error): null {
  giveUp(problem.message)
  return null
}

function giveUp(problem: string): void {
  process.stderr.write(`${problem}\n`)
  process.exitCode = 1
}
