/** A scenario in a process of its own: its failure does not affect the suite. */
import { spawn } from 'node:child_process'
import { kill } from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { plainEnvironment } from '../../test/support/load/load.ts'
import { processRow, tree, type ProcessRow } from '../../test/support/load/process-cpu.ts'

export interface RunningChild {
  /** Resolves at its end. */
  readonly ended: Promise<ChildEnd>
  /** Ends the child and everything that it started. @param hurry aborted: by force */
  stop(hurry: AbortSignal): Promise<void>
}

export interface ChildEnd {
  /** Null: by a signal. */
  readonly code: number | null
  /** The last lines of its output. */
  readonly last: readonly string[]
}

const LINES_KEPT = 5
const LINE_CHARS_MAX = 300
/** Milliseconds for a scenario to stop its servers, and for those to end when it could not. */
const GRACE_MS = 15_000
/** Milliseconds between two looks at the processes. */
const POLL_MS = 50

export interface ChildInput {
  /** Temporary directory of the child. */
  readonly folder: string
  say(line: string): void
}

/** @param program file and its arguments */
export function startChild(program: readonly string[], { folder, say }: ChildInput): RunningChild {
  // The child has a process group of its own: a terminal's Ctrl-C reaches the suite, which ends its child in
  // order.
  const child = spawn(process.execPath, program, {
    env: { ...plainEnvironment(), TMPDIR: folder },
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  })
  const last: string[] = []
  let rest = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = (lines.pop() ?? '').slice(-LINE_CHARS_MAX)
    for (const line of lines.filter((one) => one.trim() !== '')) {
      last.push(line.slice(0, LINE_CHARS_MAX))
      if (last.length > LINES_KEPT) last.shift()
      say(last.at(-1) ?? '')
    }
  })
  const ended = new Promise<ChildEnd>((resolve) => {
    child.once('error', (error) => resolve({ code: null, last: [error.message] }))
    child.once('close', (code) => resolve({ code, last }))
  })
  return { ended, stop: (hurry) => stopAll(child.pid ?? 0, hurry) }
}

/** Ends the child and its servers, which have sessions of their own and survive a killed scenario. */
async function stopAll(pid: number, hurry: AbortSignal): Promise<void> {
  if (pid === 0) return
  const rows = tree(pid)
  signal(pid, 'SIGTERM')
  await untilGone(rows, hurry)
  for (const row of rows.filter(isAlive)) signal(row.pid, 'SIGTERM')
  await untilGone(rows, hurry)
  for (const row of rows.filter(isAlive)) signal(row.pid, 'SIGKILL')
}

async function untilGone(rows: readonly ProcessRow[], hurry: AbortSignal): Promise<void> {
  const endsAt = performance.now() + GRACE_MS
  const [root] = rows
  // Orphans never end by themselves: after the scenario no process ends them.
  const waited = root !== undefined && isAlive(root) ? [root] : rows
  while (waited.some(isAlive) && performance.now() < endsAt && !hurry.aborted) await sleep(POLL_MS)
}

/** True for the same process, not for another one with its reused id. */
function isAlive({ pid, name }: ProcessRow): boolean {
  const now = processRow(pid)
  return now !== null && now.name === name && now.state !== 'Z'
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    kill(pid, name)
  } catch {
    // The process has ended meanwhile.
  }
}
