/** Starts a node from the outside and measures the time until it has answered a call correctly. */
import { readFile } from 'node:fs/promises'
import { request } from 'node:http'
import { monotonicMs } from '../../test/support/load/load-plan.ts'
import { processRow, tree, treeCpuS } from '../../test/support/load/process-cpu.ts'
import { hasEnded, pause, spawnServer, type Spawned } from '../../test/support/nodes/spawned.ts'
import { readMemory, totalOf } from '../transfers/resources.ts'

export interface Launch {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly port: number
  /** File to which the node writes its first keys. */
  readonly keyFile: string
  /** Milliseconds after which the start counts as failed. */
  readonly startMsMax: number
}

export interface TimedStart {
  /** Milliseconds from exec to the last byte of the first good answer. */
  readonly tookMs: number
  /** CPU seconds of the whole process tree until then. */
  readonly cpuS: number
  readonly rssBytes: number | null
  /** Ends the whole process tree; resolves when it is gone. */
  stop(): Promise<void>
}

const TRY_PAUSE_MS = 5
/**
 * A call of the built-in model: an answer proves key, limits, ledger and catalogue, and needs no other
 * server.
 */
const BODY = JSON.stringify({
  model: 'sluice/lexical-1',
  input: 'The quick brown fox jumps over the lazy dog.',
})
const LAST_WORDS_CHARS = 600

/**
 * Starts a node. Throws with its last output when it ends or does not answer in time; no process is left
 * then.
 */
export async function timedStart(launch: Launch): Promise<TimedStart> {
  const beganAt = monotonicMs()
  const server = spawnServer(launch.command, launch.args, {
    cwd: launch.cwd,
    env: launch.env,
    detached: true,
  })
  try {
    await firstAnswer(server, launch, beganAt + launch.startMsMax)
    const tookMs = monotonicMs() - beganAt
    const pid = server.child.pid ?? 0
    return { tookMs, cpuS: treeCpuS(pid), rssBytes: totalOf(readMemory(tree(pid))), stop: () => end(server) }
  } catch (failure) {
    await end(server)
    throw failure
  }
}

async function firstAnswer(
  server: Spawned,
  { port, keyFile, startMsMax }: Launch,
  endsAt: number,
): Promise<void> {
  for (let key = ''; ; await pause(TRY_PAUSE_MS)) {
    if (hasEnded(server.child))
      throw new Error(`it ended before it answered:\n${server.output().slice(-LAST_WORDS_CHARS)}`)
    if (monotonicMs() > endsAt)
      throw new Error(`no good answer within ${startMsMax} ms:\n${server.output().slice(-LAST_WORDS_CHARS)}`)
    if (key === '') key = await keyOf(keyFile)
    if (key !== '' && (await statusOf(port, key)) === 200) return
  }
}

/** The key in the file; the empty text until the file is complete. */
async function keyOf(file: string): Promise<string> {
  try {
    const { inference_key: key } = JSON.parse(await readFile(file, 'utf8')) as { inference_key?: unknown }
    return typeof key === 'string' ? key : ''
  } catch {
    return ''
  }
}

/** Status of an answer; 0 without one. */
function statusOf(port: number, key: string): Promise<number> {
  return new Promise((resolve) => {
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'content-length': BODY.length,
    }
    const sent = request(
      { host: '127.0.0.1', port, path: '/api/v1/embeddings', method: 'POST', headers, agent: false },
      (answer) => {
        answer
          .resume()
          .once('end', () => resolve(answer.statusCode ?? 0))
          .once('error', () => resolve(0))
      },
    )
    sent.once('error', () => resolve(0)).end(BODY)
  })
}

/**
 * Ends a node. npm has the supervisor below it, in the same session; fronts and stores have sessions of their
 * own and end with the supervisor.
 */
async function end(server: Spawned): Promise<void> {
  const { child } = server
  const family = child.pid === undefined ? [] : tree(child.pid).map(({ pid }) => pid)
  if (!hasEnded(child) && child.pid !== undefined) process.kill(-child.pid, 'SIGTERM')
  while (!hasEnded(child) && child.pid !== undefined) await pause(20)
  while (family.some(isThere)) await pause(20)
}

function isThere(pid: number): boolean {
  const row = processRow(pid)
  return row !== null && row.state !== 'Z'
}
