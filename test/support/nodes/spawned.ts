/** Servers in processes of their own, started and ended from the outside. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { plainEnvironment } from '../load/load.ts'
import { pause } from '../wait.ts'

export interface Spawned {
  readonly child: ChildProcess
  /** Both outputs, the last megabyte of them. */
  output(): string
}

const OUTPUT_CHARS_MAX = 1_000_000

export interface SpawnOptions {
  /** Besides the caller's own. */
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Gives it a session of its own: the kernel shares out cores by session, which a bench must not mix up. */
  readonly detached?: boolean
}

/** Starts a server without what a test runner would put into its environment. */
export function spawnServer(command: string, args: readonly string[], more: SpawnOptions = {}): Spawned {
  let text = ''
  const child = spawn(command, args, {
    env: { ...plainEnvironment(), ...more.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: more.detached ?? false,
    ...(more.cwd === undefined ? {} : { cwd: more.cwd }),
  })
  const keep = (bytes: Buffer): void => {
    text = (text + bytes.toString()).slice(-OUTPUT_CHARS_MAX)
  }
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  // An absent program shows by its exit without a pid.
  child.on('error', (error) => {
    text += error.message
  })
  return { child, output: () => text }
}

/** Waits until the output holds the text; throws with the output when the server ends or is too slow. */
export async function untilPrinted(
  server: Spawned,
  pattern: RegExp,
  timeoutMs: number,
): Promise<RegExpExecArray> {
  const endsAt = Date.now() + timeoutMs
  for (;;) {
    const found = pattern.exec(server.output())
    if (found !== null) return found
    if (hasEnded(server.child) || Date.now() > endsAt)
      throw new Error(`${pattern} was never printed:\n${server.output()}`)
    await pause(10)
  }
}

/** Waits until the port takes a connection; throws with the server's output when it ended instead. */
export async function untilListening(port: number, server: Spawned, timeoutMs = 30_000): Promise<void> {
  const endsAt = Date.now() + timeoutMs
  while (Date.now() < endsAt && !hasEnded(server.child)) {
    if (await isListening(port)) return
    await pause(20)
  }
  throw new Error(`nothing listens on ${port}:\n${server.output()}`)
}

/**
 * Ends a server that we started; by force when it does not end by itself. SIGINT: at SIGTERM a node waits for
 * clients that keep connections open.
 */
export async function stopServer(
  child: ChildProcess,
  graceMs = 10_000,
  signal: 'SIGINT' | 'SIGTERM' = 'SIGINT',
): Promise<void> {
  if (hasEnded(child) || child.pid === undefined) return
  const ended = once(child, 'exit')
  child.kill(signal)
  const timer = setTimeout(() => child.kill('SIGKILL'), graceMs)
  await ended
  clearTimeout(timer)
}

/**
 * Below the ports that systems give out by themselves: a request for any port never gets one of them, and
 * each process counts through some of its own, so that two tests side by side do not wait for the same.
 */
const PORTS_FROM = 20_000
const PORTS_OF_PROCESS = 20
const PROCESSES = 600
let portsAsked = 0
let ownPorts: Promise<number> | null = null

/** A port that was free a moment ago: programs take numbers, not sockets. */
export async function freePort(): Promise<number> {
  ownPorts ??= claimPorts()
  const first = await ownPorts
  for (let tried = 0; tried < PORTS_OF_PROCESS; tried++) {
    const port = await listened(first + (portsAsked++ % PORTS_OF_PROCESS))
    if (port !== null) return port
  }
  return (await listened(0)) ?? 0
}

/** @returns the first of some ports that are this process' as long as it lives */
async function claimPorts(): Promise<number> {
  for (let nth = 0; nth < PROCESSES; nth++) {
    const place = (process.pid + nth) % PROCESSES
    if (await isClaimed(place)) return PORTS_FROM + place * PORTS_OF_PROCESS
  }
  throw new Error('every port for tests is claimed')
}

/** By an abstract name, which ends with its holder and is known wherever the ports are. */
function isClaimed(place: number): Promise<boolean> {
  if (process.platform !== 'linux') return Promise.resolve(true)
  return new Promise((resolve) => {
    const claim = createServer().unref()
    claim.once('error', () => resolve(false)).listen(`\0sluice-test-ports-${place}`, () => resolve(true))
  })
}

/** @returns null when another process has it */
async function listened(port: number): Promise<number | null> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return null
  }
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : null
}

export { pause }

export function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
