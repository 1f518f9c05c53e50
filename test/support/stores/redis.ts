import { join } from 'node:path'
import { execFileSync } from 'node:child_process'
import {
  launchInMemory,
  launchServer,
  type RunningRedis,
} from '../../../src/server/supervisor/redis/redis-child.ts'
import { openState, type State } from '../../../src/server/redis/open.ts'
import { SILENT } from '../log.ts'
import type { Teardown } from '../teardown.ts'
import { temporaryFolder } from '../temporary-folder.ts'

/** `child` = a real server from the PATH. */
export type RedisKind = 'in-memory' | 'child'

/** A Redis that a test may stop, freeze and bring back, always on the same socket. */
export interface TestRedis {
  readonly socketPath: string
  readonly kind: RedisKind
  /** Kills it and waits for its end. */
  kill(): Promise<void>
  start(): Promise<void>
  /** It accepts connections and answers nothing. */
  freeze(): void
  thaw(): void
}

// tap's loader hook would be inherited by every server that a test starts.
delete process.env['NODE_OPTIONS']

/** Kinds that this machine has; the in-memory one always. Tests repeat on each, and say so in their title. */
export const REDIS_KINDS: readonly RedisKind[] = hasServer() ? ['in-memory', 'child'] : ['in-memory']

/** Starts a Redis of its own for a test and ends it with the test. */
export async function openTestRedis(t: Teardown, kind: RedisKind = 'in-memory'): Promise<TestRedis> {
  const home = temporaryFolder(t, 'redis')
  const socketPath = join(home, 'redis.sock')
  const launch = () =>
    kind === 'child'
      ? launchServer({ command: 'redis-server', socketPath, home })
      : launchInMemory({ socketPath })
  let running: RunningRedis | null = await launch()
  const kill = async (): Promise<void> => {
    const ending = running
    running = null
    if (ending === null) return
    process.kill(ending.pid, 'SIGKILL')
    await ending.ended
  }
  t.teardown(kill)
  return {
    socketPath,
    kind,
    kill,
    async start() {
      running ??= await launch()
    },
    freeze: () => void (running !== null && process.kill(running.pid, 'SIGSTOP')),
    thaw: () => void (running !== null && process.kill(running.pid, 'SIGCONT')),
  }
}

/** Milliseconds that a command waits where the bounds of the product are not what a test is about. */
const COMMAND_MS_MIN = 60_000

/**
 * A connection whose commands wait long, reachable, and closed with the test: a Redis that a busy machine has
 * stand still for the 2.5 s of the product would be an outage.
 */
export async function openPatientState(
  t: Teardown,
  { socketPath }: Pick<TestRedis, 'socketPath'>,
): Promise<State> {
  const state = openState({ url: null, socketPath, log: SILENT })
  t.teardown(() => state.close())
  state.redis.options.commandTimeout = COMMAND_MS_MIN
  await state.whenReachable(COMMAND_MS_MIN)
  return state
}

function hasServer(): boolean {
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
