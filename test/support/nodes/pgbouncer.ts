/** A real PgBouncer before a server of the tests, where one is installed. */
import { spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findSetpriv, launch, stepDownAccount } from '../../../src/server/supervisor/fleet/step-down.ts'
import { plainEnvironment } from '../load/load.ts'
import type { Teardown } from '../teardown.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { NODE_PASSWORD, NODE_ROLE, type PostgresServer } from './postgres-servers.ts'
import { freePort, hasEnded, untilListening } from './spawned.ts'

/** Server connections in transaction mode: fewer than a node of two fronts may hold. */
const TRANSACTION_POOL = 5
/** In session mode each connection of a node takes one. */
const SESSION_POOL = 80

export type PoolMode = 'session' | 'transaction'

export interface PgBouncer {
  readonly port: number
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>
  /** Resolves when it listens. */
  start(): Promise<void>
}

/** Why a run that needs PgBouncer is left out, or null. */
export function whyNoPgBouncer(): string | null {
  const { status } = spawnSync('pgbouncer', ['--version'], { stdio: 'ignore', env: plainEnvironment() })
  return status === 0 ? null : 'pgbouncer is not on the PATH'
}

export async function startPgBouncer(
  t: Teardown,
  before: PostgresServer,
  mode: PoolMode,
): Promise<PgBouncer> {
  const folder = temporaryFolder(t, 'pgbouncer')
  const port = await freePort()
  const [config, users] = [join(folder, 'pgbouncer.ini'), join(folder, 'users')]
  writeFileSync(users, `"${NODE_ROLE}" "${NODE_PASSWORD}"\n`)
  writeFileSync(config, settings({ before, users, port, mode }))
  chmodSync(folder, 0o755)
  let running: ChildProcess | null = null
  const kill = async (): Promise<void> => {
    const ending = running
    running = null
    if (ending === null || hasEnded(ending)) return
    const ended = once(ending, 'exit')
    ending.kill('SIGKILL')
    await ended
  }
  t.teardown(kill)
  const start = async (): Promise<void> => {
    const child = launch('pgbouncer', [config], {
      // It refuses to run as root.
      account: stepDownAccount(),
      setpriv: findSetpriv(),
      deathSignal: 'KILL',
      options: { cwd: '/', env: plainEnvironment(), stdio: 'ignore' },
    })
    running = child
    await untilListening(port, { child, output: () => '' })
  }
  await start()
  return { port, kill, start }
}

interface Place {
  readonly before: PostgresServer
  readonly users: string
  readonly port: number
  readonly mode: PoolMode
}

function settings({ before, users, port, mode }: Place): string {
  return `[databases]
* = host=127.0.0.1 port=${before.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${users}
pool_mode = ${mode}
max_client_conn = 600
default_pool_size = ${mode === 'transaction' ? TRANSACTION_POOL : SESSION_POOL}
`
}
