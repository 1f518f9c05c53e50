/**
 * `npm run bench -- ladder`: what each part that governs a call costs. A bare relay comes first, then one
 * part at a time, each the product's own code, until the whole node.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { availableParallelism } from 'node:os'
import { startStand } from '../test/support/nodes/stand.ts'
import { openHeapWatch } from './heap/heap.ts'
import { keepRecord, progress } from './keep-record.ts'
import { ladderChecks, ladderNotes, ladderRows, stepsOf, topOf } from './ladder/findings.ts'
import { climb } from './ladder/measure.ts'
import { LADDER_OPTIONS_TEXT, readLadderOptions } from './ladder/options.ts'
import { RUNG_PREFIX, rungsOf, TRACING, UNLOGGED } from './ladder/rungs.ts'
import {
  holdComparison,
  nodeSubject,
  startRelaySubject,
  startRung,
  unloggedSubject,
  type LadderRig,
  type LadderSubject,
} from './ladder/subjects.ts'
import { ratedKey } from './limits/owners.ts'
import { optionsOrExit } from './options.ts'
import { ratiosOver } from './ratios.ts'

/** Requests a minute that no run reaches: the limit counts every call and refuses none. */
const AMPLE_RPM = 1_000_000_000

const options = optionsOrExit(process.argv.slice(2), readLadderOptions, LADDER_OPTIONS_TEXT)
const { connections, dimensions, only, repeats } = options
const durationMs = options.seconds * 1_000
// A front compiles its hot code in its first ten thousands of calls.
const settings = { connections, durationMs, warmUpMs: 12_000, repeats }

const heap = await openHeapWatch()
const stand = await startStand({ dimensions, settings: heap.inherited })
/** Takes the spans of the rung `tracing`, and drops them. */
const receiver = createServer(
  (request, response) => void request.resume().on('end', () => response.end('{}')),
)
await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
await holdComparison(stand)
const subjects: LadderSubject[] = []
try {
  const { port } = receiver.address() as AddressInfo
  const apiKey = await ratedKey(stand, AMPLE_RPM)
  const rig: LadderRig = { stand, heap, apiKey, spansTo: `http://127.0.0.1:${port}` }
  for (const name of ['relay', 'lean-relay'] as const)
    if (only.includes(name)) subjects.push(await startRelaySubject(name, rig))
  for (const rung of rungsOf(only)) subjects.push(await startRung(rung, rig))
  const top = topOf(subjects, RUNG_PREFIX + TRACING.name)
  if (only.includes('unlogged')) subjects.push(await startUnlogged(top))
  if (only.includes('sluice')) subjects.push(nodeSubject(rig, only.includes('unlogged') ? UNLOGGED : top))
  const rows = ladderRows(await climb(subjects, { stand, ...settings, progress }), connections)
  const steps = stepsOf(rows, subjects)
  await keepRecord(
    {
      scenario: 'ladder',
      question: `what each part that governs an embeddings call costs: ${dimensions} floats an answer, one part after the other over a bare relay`,
      settings: { ...settings, dimensions, answerBytes: stand.mock.answerBytes },
      subjects: subjects.map(({ name, note, below }) => ({
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
      checks: ladderChecks({ rows, steps, top, dimensions }),
      notes: [
        ...ladderNotes({ rows, steps, top }),
        `generator, provider and servers share ${availableParallelism()} cores; the slower a subject is, the more of its sends wake a peer`,
        'the fronts of the rungs run the modules as they are, the node runs them joined; both have the same options',
        'the comparison of the request log with the ledger is held: rungs pay from the same ledger without that log',
        'stores that a rung shares with the node count less what they use at rest; the time behind a load in which the ledger is written counts',
      ],
    },
    options.json,
  )
} finally {
  for (const subject of subjects) await subject.stop()
  await stand.stop()
  receiver.close()
  await heap.close()
}

async function startUnlogged(below: string | null): Promise<LadderSubject> {
  const quiet = await startStand({
    dimensions,
    settings: { ...heap.inherited, SLUICE_KEEP_REQUESTS: 'off' },
  })
  return unloggedSubject({ stand: quiet, heap, apiKey: await ratedKey(quiet, AMPLE_RPM) }, below)
}
