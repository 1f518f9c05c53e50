import { move, transferableSymbol, valueSymbol } from 'piscina'
import type { ShortJobName, ShortJobTypes } from '../server/ports/short-jobs.ts'
import { TASKS, type Task } from './tasks.ts'

export interface ThreadJob<N extends ShortJobName = ShortJobName> {
  readonly name: N
  readonly input: ShortJobTypes[N]['in']
}

/** Entry of a short-job thread: runs the named task and moves the buffers of its answer. */
export default function runJob<N extends ShortJobName>(job: ThreadJob<N>): unknown {
  const task: Task<N> = TASKS[job.name]
  const out = task.run(job.input)
  // Most tasks have returned their answer here, and need not wait for a turn.
  return out instanceof Promise ? out.then((late) => moving(task, late)) : moving(task, out)
}

function moving<N extends ShortJobName>(task: Task<N>, out: ShortJobTypes[N]['out']): unknown {
  const moved = task.moves(out).map((bytes) => bytes.buffer)
  return moved.length === 0 || out === null ? out : move({ [transferableSymbol]: moved, [valueSymbol]: out })
}
