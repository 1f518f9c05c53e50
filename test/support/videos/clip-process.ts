/**
 * A process that does what a runner does with clips: it renders one after the other in the thread of its
 * pool.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { openPools } from '../../../src/workers/pool.ts'
import { callerBy } from '../keys/callers.ts'
import { clipInput, type ClipInput } from './clips.ts'
import { plainEnvironment } from '../load/load.ts'
import { SILENT } from '../log.ts'
import { must } from '../must.ts'
import { processRow } from '../load/process-cpu.ts'
import { stopServer } from '../nodes/spawned.ts'

/** What it says after each clip. */
export interface ClipReported {
  readonly nth: number
  /** Milliseconds from the wish to the clip. */
  readonly ms: number
  /** Of the whole process. */
  readonly residentBytes: number
}

export interface ClipProcess {
  readonly reported: readonly ClipReported[]
  /** CPU seconds since it began. */
  cpuS(): number
  /** Waits until it has rendered so many clips since its start. */
  until(count: number): Promise<void>
  stop(): Promise<void>
}

/** @param input each clip has the number of its turn as its seed */
export async function startClipProcess(input: Partial<ClipInput>): Promise<ClipProcess> {
  // In the session of the node, as its runner is: the kernel shares out cores by session before it asks who
  // is nice.
  const child: ChildProcess = fork(fileURLToPath(import.meta.url), [JSON.stringify(input)], {
    env: plainEnvironment(),
    execArgv: [],
  })
  const reported: ClipReported[] = []
  child.on('message', (one) => reported.push(one as ClipReported))
  const ended = new Promise<never>((_resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`the process of the clips ended with ${code}`)))
  })
  ended.catch(() => undefined)
  const until = async (count: number): Promise<void> => {
    while (reported.length < count)
      await Promise.race([ended, new Promise((resolve) => child.once('message', resolve))])
  }
  await until(1)
  return { reported, cpuS: () => processRow(child.pid ?? 0)?.cpuS ?? 0, until, stop: () => stopServer(child) }
}

async function render(input: Partial<ClipInput>): Promise<never> {
  const { jobs } = openPools({
    shortThreads: 1,
    sessionThreads: 0,
    queueMax: 1,
    isBackground: true,
    log: SILENT,
  })
  for (let nth = 1; ; nth++) {
    const startedAt = performance.now()
    must(await jobs.run('render_clip', clipInput({ ...input, seed: nth }), { caller: callerBy('prove') }))
    const reported: ClipReported = {
      nth,
      ms: performance.now() - startedAt,
      residentBytes: process.memoryUsage.rss(),
    }
    process.send?.(reported)
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.on('disconnect', () => process.exit(0))
  await render(JSON.parse(process.argv[2] ?? '{}') as Partial<ClipInput>)
}
