/** A scenario in a process of its own: what it dies of is its own affair. */
import { spawn } from 'node:child_process'
import { kill } from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { plainEnvironment } from '../../test/support/load/load.ts'
import { processRow, tree, type ProcessRow } from '../../test/support/load/process-cpu.ts'

export interface RunningChild {
  /** Of its end. */
  readonly ended: Promise<ChildEnd>
  /** Ends it and everything that it started. @param hurry aborted: by force */
  stop(hurry: AbortSignal): Promise<void>
}

export interface ChildEnd {
  /** Null: by a signal. */
  readonly code: number | null
  /** The last lines that it said. */
  readonly last: readonly string[]
}

const LINES_KEPT = 5
const LINE_CHARS_MAX = 300
/** For a scenario to stop its servers, and for those to end when it could not. */
const GRACE_MS = 15_000
const POLL_MS = 50

export interface ChildInput {
  /** Its temporary directory. */
  readonly folder: string
  say(line: string): void
}

/** @param program file and its arguments */
export function startChild(program: readonly string[], { folder, say }: ChildInput): RunningChild {
  // In a group of its own: a terminal's Ctrl-C is the suite's, which ends its child in order.
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

/** The servers of a scenario have sessions of their own, which outlive it when it is killed. */
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
  // Orphans never end by themselves: once the scenario is gone nobody will ask them to.
  const waited = root !== undefined && isAlive(root) ? [root] : rows
  while (waited.some(isAlive) && performance.now() < endsAt && !hurry.aborted) await sleep(POLL_MS)
}

/** The same process, and not another one that was given its number. */
function isAlive({ pid, name }: ProcessRow): boolean {
  const now = processRow(pid)
  return now !== null && now.name === name && now.state !== 'Z'
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    kill(pid, name)
  } catch {
    // It has ended meanwhile.
  }
}
