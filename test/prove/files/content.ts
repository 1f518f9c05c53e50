import { CONTENT_SLICE_BYTES_MAX, createContentScanner } from '../../../src/workers/content/scanner.ts'
import { CORPUS } from '../../support/corpus/corpus.ts'
import { HARD_FILES } from '../../support/corpus/hard-files.ts'
import type { CorpusFile } from '../../support/corpus/bytes.ts'
import type { Program, Proof } from '../proof.ts'

const MIB = 1_048_576
/** Milliseconds that a verdict may take, for any file and for each MiB. */
const VERDICT_MS = 200
const VERDICT_MS_PER_MIB = 8
/** How long a slice may hold a thread. Design §5. */
const SLICE_MS = 5

export const program: Program = {
  text: 'Every file of the corpus gets the verdict of the contract, within 200 ms and 8 ms a MB',
  run(proof) {
    const rounds = proof.isShort ? 1 : 3
    const runs = CORPUS.map((file) => fastest(file, rounds))
    const wrong = runs.filter((run) => !run.isRight)
    for (const { name, stated } of wrong) proof.say(`${name}: ${stated}`)
    proof.check(
      'verdicts as the contract says',
      wrong.length === 0,
      `${wrong.length} wrong of ${runs.length} files`,
    )
    report(proof, 'the corpus', runs)
    const size = (proof.isShort ? 2 : 32) * MIB
    report(
      proof,
      'files made to be slow',
      HARD_FILES.map(({ name, make }) => fastest({ name, make: () => make(size), expected: /./ }, rounds)),
    )
    return Promise.resolve()
  },
}

interface Run {
  readonly name: string
  readonly isRight: boolean
  readonly stated: string
  readonly mib: number
  readonly cpuMs: number
  readonly slowestSliceMs: number
}

/** The best of some rounds: the first one pays the compiler. */
function fastest(file: CorpusFile, rounds: number): Run {
  const runs = Array.from({ length: rounds }, () => timed(file))
  const best = (of: (run: Run) => number): number => Math.min(...runs.map(of))
  const [first = timed(file)] = runs
  return { ...first, cpuMs: best((run) => run.cpuMs), slowestSliceMs: best((run) => run.slowestSliceMs) }
}

/** CPU time, so that what else the machine does counts as little as it can. */
function timed({ name, make, expected }: CorpusFile): Run {
  const bytes = make()
  const scanner = createContentScanner()
  const before = process.cpuUsage()
  let slowestSliceMs = 0
  for (let at = 0; at < bytes.length; at += CONTENT_SLICE_BYTES_MAX) {
    const slice = process.cpuUsage()
    scanner.push(bytes.subarray(at, at + CONTENT_SLICE_BYTES_MAX))
    slowestSliceMs = Math.max(slowestSliceMs, cpuMsSince(slice))
  }
  const verdict = scanner.finish(bytes.length)
  const text = verdict.ok ? verdict.mimeType : verdict.found
  const isRight = typeof expected === 'string' ? text === expected : !verdict.ok && expected.test(text)
  return { name, isRight, stated: text, mib: bytes.length / MIB, cpuMs: cpuMsSince(before), slowestSliceMs }
}

function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

function report(proof: Proof, what: string, runs: readonly Run[]): void {
  const late = runs.filter((run) => run.cpuMs > VERDICT_MS + VERDICT_MS_PER_MIB * run.mib)
  const large = runs.filter((run) => run.mib >= 1)
  const [slowest] = large.toSorted((a, b) => b.cpuMs / b.mib - a.cpuMs / a.mib)
  const pace =
    slowest === undefined
      ? 'none above 1 MB'
      : `${(slowest.cpuMs / slowest.mib).toFixed(1)} ms a MB at most (${slowest.name})`
  proof.checkTimed(
    `${what}: each within ${VERDICT_MS} ms and ${VERDICT_MS_PER_MIB} ms a MB`,
    late.length === 0,
    `${late.length} late of ${runs.length}; ${pace}`,
  )
  const [held] = runs.toSorted((a, b) => b.slowestSliceMs - a.slowestSliceMs)
  const heldMs = held?.slowestSliceMs ?? 0
  proof.checkTimed(
    `${what}: no slice holds the thread over ${SLICE_MS} ms`,
    heldMs <= SLICE_MS,
    `${heldMs.toFixed(1)} ms at most (${held?.name ?? 'none'})`,
  )
}
