/** The npm registry, as a process without any other network reaches it. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { chmodSync, existsSync, rmSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { plainEnvironment } from '../load/load.ts'

/**
 * The registry and its certificate authority: a user's caches and keys are left out, but not their registry.
 */
export function registrySettings(): Readonly<Record<string, string>> {
  const asked = ['registry', 'cafile'] as const
  const found = asked.map(
    (name) =>
      [
        `npm_config_${name}`,
        spawnSync('npm', ['config', 'get', name], { encoding: 'utf8' }).stdout.trim(),
      ] as const,
  )
  return Object.fromEntries(
    found.filter(([, value]) => value !== '' && value !== 'null' && value !== 'undefined'),
  )
}

/** The reason why no process can be shut in here with the registry alone; null when one can. */
export function whyNotShutIn(): string | null {
  return spawnSync('unshare', ['--net', 'true']).status === 0
    ? null
    : 'this user may make no network namespace'
}

export interface RegistryGate {
  /** A Unix socket: those are reached from any network namespace. */
  readonly socketPath: string
  /** Hosts and ports of requested connections, with their counts. */
  readonly asked: Readonly<Record<string, number>>
  close(): Promise<void>
}

/** A proxy by CONNECT that leads to the registry, and nowhere else. */
export async function openRegistryGate(socketPath: string, registry: string): Promise<RegistryGate> {
  const { hostname, port } = new URL(registry)
  const place = `${hostname}:${port === '' ? '443' : port}`
  const asked: Record<string, number> = {}
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    sockets.add(client)
    client.once('close', () => sockets.delete(client)).on('error', () => client.destroy())
    client.once('data', (head) => {
      const [, wanted = ''] = /^CONNECT (\S+) HTTP/.exec(head.toString('latin1')) ?? []
      asked[wanted] = (asked[wanted] ?? 0) + 1
      if (wanted !== place) {
        client.end('HTTP/1.1 403 Forbidden\r\n\r\n')
        return
      }
      const upstream = connect(Number(place.split(':').at(-1)), hostname, () => {
        client.write('HTTP/1.1 200 Connection established\r\n\r\n')
        client.pipe(upstream).pipe(client)
      })
      upstream.on('error', () => client.destroy()).once('close', () => client.destroy())
      client.once('close', () => upstream.destroy())
    })
  })
  await listen(server, socketPath)
  // The process that is shut in may run as another user.
  chmodSync(socketPath, 0o777)
  return {
    socketPath,
    asked,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resolve())
        if (existsSync(socketPath)) rmSync(socketPath)
      }),
  }
}

const RELAY_PORT = 4_873

/**
 * The command line that runs a command in a network of its own, which has a loopback and a way to the gate.
 */
export function shutIn(gate: RegistryGate, command: readonly string[]): readonly string[] {
  const relay = fileURLToPath(import.meta.url)
  return [
    'unshare',
    '--net',
    '--',
    'sh',
    '-c',
    'ip link set lo up && exec "$@"',
    'sh',
    process.execPath,
    relay,
    gate.socketPath,
    ...command,
  ]
}

/** Settings that lead npm to the relay. */
export const GATE_SETTINGS: Readonly<Record<string, string>> = {
  npm_config_https_proxy: `http://127.0.0.1:${RELAY_PORT}`,
  npm_config_proxy: `http://127.0.0.1:${RELAY_PORT}`,
}

/** The command line that runs one in the network that a process is shut in. */
export function inNetworkOf(pid: number, command: readonly string[]): readonly string[] {
  return ['nsenter', '--target', String(pid), '--net', '--', ...command]
}

function listen(server: Server, place: string | number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    if (typeof place === 'string') server.listen(place, resolve)
    else server.listen(place, '127.0.0.1', resolve)
  })
}

/** The process inside: passes on what comes to the relay's port, and is otherwise the command. */
async function relay([socketPath = '', command = '', ...args]: readonly string[]): Promise<void> {
  const server = createServer((client) => {
    const gate = connect(socketPath)
    client
      .on('error', () => gate.destroy())
      .pipe(gate)
      .on('error', () => client.destroy())
      .pipe(client)
  })
  await listen(server, RELAY_PORT)
  const child: ChildProcess = spawn(command, args, { stdio: 'inherit', env: plainEnvironment() })
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => child.kill(signal))
  child.once('error', () => process.exit(1))
  child.once('exit', (code) => process.exit(code ?? 1))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await relay(process.argv.slice(2))
