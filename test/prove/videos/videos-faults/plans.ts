import { randomUUID } from 'node:crypto'
import { modelOf, SUBMIT_KINDS } from '../video-stand.ts'
import type { Proof } from '../../proof.ts'
import type { WantedJob } from './order.ts'
import { POINTS, type Fault, type Point } from './points.ts'

/** A run: a process that dies at a point, and one that does not. */
export interface Plan {
  readonly name: string
  readonly point: Point
  readonly fault: Fault
  readonly wanted: readonly WantedJob[]
}

/** Two of each kind of submission. */
const JOBS = 6
/** Milliseconds within which all are offered. */
const OFFERED_MS = 40
/** Milliseconds from the beginning of a step until the end of the process: about as long as a transaction. */
const CUT_MS_MAX = 10
/** The same of a request: from before it is on its way until long after the provider has it. */
const WRITTEN_MS_MAX = 40
const CANCEL_MS_MAX = 150

/** What the provider does where a point is not reached without it. */
const WORDS: Partial<Record<Point, string>> = {
  'submit.after_write': '[hang-after]',
  'lookup.after_list': '[hang-up-after]',
  'lookup.after_taken_back': '[hang-up-before]',
}
/** Points that jobs reach whatever their provider does with them. */
const MIXED = /^(?:accept|claim|end|cancel|webhook)\./
const MIX = ['', '', '', '[fail]', '[hang-up-after]', '[hang-up-before]']

/** @param isSimple the point is surely reached: at its first time */
export function planOf(
  proof: Proof,
  {
    point,
    nth,
    isSimple = false,
  }: { readonly point: Point; readonly nth: number; readonly isSimple?: boolean },
): Plan {
  const name = `${point}/${nth}${isSimple ? '/again' : ''}`
  const isCancelled = point.startsWith('cancel.')
  const wordOf = (): string =>
    WORDS[point] ?? (MIXED.test(point) ? (MIX[proof.random(MIX.length)] ?? '') : '')
  return {
    name,
    point,
    fault: {
      point,
      nth: isSimple ? 1 : 1 + proof.random(POINTS[point]),
      afterMs: proof.random(point === 'submit.after_write' ? WRITTEN_MS_MAX : CUT_MS_MAX),
    },
    wanted: Array.from({ length: JOBS }, (_, job): WantedJob => {
      const kind = SUBMIT_KINDS[job % SUBMIT_KINDS.length] ?? 'token'
      const tag = `job ${proof.seed}-${name}-${job};`
      return {
        nth: job,
        kind,
        tag,
        model: modelOf(kind),
        prompt: `a red ball, ${tag} ${wordOf()}`,
        key: randomUUID(),
        callbackUrl: '',
        inMs: proof.random(OFFERED_MS),
        cancelInMs: isCancelled && job < JOBS / 2 ? proof.random(CANCEL_MS_MAX) : null,
      }
    }),
  }
}
