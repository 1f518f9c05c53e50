import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { plainEnvironment } from '../test/support/load.ts'
import type { LoadRequest } from '../test/support/load-plan.ts'

/** A server that the bench drives, from the outside: a process and a request. */
export interface Target {
  readonly name: string
  /** Root of the process tree whose CPU counts. */
  readonly pid: number
  readonly port: number
  readonly request: LoadRequest
  /** Said under the table: what is and what is not alike. */
  readonly note: string
  stop(): Promise<void>
}

/** A peer that this machine cannot run, with the reason. */
export interface Absent {
  readonly name: string
  readonly absent: string
}

/** A port that was free a moment ago: peers take numbers, not sockets. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}

export interface Spawned {
  readonly child: ChildProcess
  /** Last output, for the report of a start that failed. */
  readonly output: () => string
}

/** Starts a server without what a test runner would put into its environment. */
export function spawnServer(command: string, args: readonly string[], env: Readonly<Record<string, string>>, cwd?: string): Spawned {
  let tail = ''
  const child = spawn(command, args, {
    env: { ...plainEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(cwd === undefined ? {} : { cwd }),
  })
  const keep = (bytes: Buffer): void => { tail = (tail + bytes.toString()).slice(-4_000) }
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  // An absent program is told by its exit without a pid.
  child.on('error', (error) => { tail += error.message })
  return { child, output: () => tail }
}

const LISTEN_TIMEOUT_MS = 30_000

/** Waits until the port takes a connection; throws with the server's last output when it ended instead. */
export async function untilListening(port: number, server: Spawned): Promise<void> {
  const endsAt = Date.now() + LISTEN_TIMEOUT_MS
  while (Date.now() < endsAt) {
    if (server.child.exitCode !== null) break
    if (await isListening(port)) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`the server did not listen on ${port}:\n${server.output()}`)
}

/** Ends a server that we started; by force when it does not end by itself. */
export async function stopServer(child: ChildProcess, graceMs = 10_000): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), graceMs)
  await ended
  clearTimeout(timer)
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => { socket.destroy(); resolve(true) })
    socket.once('error', () => resolve(false))
  })
}
