/** Real servers of Redis that refuse, fail over and are moved, as an operator's may. */
import { spawn, type ChildProcess } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { plainEnvironment } from '../load/load.ts'
import type { Teardown } from '../teardown.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { isOnPath } from './outside-stores.ts'
import { freePort, hasEnded, stopServer, untilListening } from './spawned.ts'

/** Milliseconds after which Sentinels call a silent primary down. */
const DOWN_AFTER_MS = 1_000

export interface RedisServer {
  readonly port: number
  readonly url: string
  /** Sends a command; its answer as Redis writes it. */
  command(line: string): Promise<string>
  /** SIGKILL; resolves when it is gone. */
  kill(): Promise<void>
}

/** Why a run that needs a real server is left out, or null. */
export async function whyNoRedis(): Promise<string | null> {
  return (await isOnPath('redis-server')) ? null : 'redis-server is not on the PATH'
}

/** @param args besides the port, such as `--replicaof 127.0.0.1 7000` */
export async function startRedisServer(t: Teardown, ...args: readonly string[]): Promise<RedisServer> {
  const home = temporaryFolder(t, 'redis')
  const port = await freePort()
  const own = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', home]
  return started(t, { port, args: [...own, ...args] })
}

/** A primary and its replica with three Sentinels, which know it as `main`. */
export async function startSentinels(
  t: Teardown,
): Promise<{ readonly primary: RedisServer; readonly url: string }> {
  const primary = await startRedisServer(t)
  await startRedisServer(t, '--replicaof', '127.0.0.1', String(primary.port))
  const ports = await Promise.all(Array.from({ length: 3 }, () => startSentinel(t, primary.port)))
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',')
  return { primary, url: `redis+sentinel://${hosts}/main/0` }
}

async function startSentinel(t: Teardown, primaryPort: number): Promise<number> {
  const home = temporaryFolder(t, 'sentinel')
  const port = await freePort()
  const config = join(home, 'sentinel.conf')
  await writeFile(
    config,
    `port ${port}\nbind 127.0.0.1\ndir ${home}\nsentinel monitor main 127.0.0.1 ${primaryPort} 2\n` +
      `sentinel down-after-milliseconds main ${DOWN_AFTER_MS}\nsentinel failover-timeout main 3000\n`,
  )
  await started(t, { port, args: [config, '--sentinel'] })
  return port
}

interface Launch {
  readonly port: number
  readonly args: readonly string[]
}

async function started(t: Teardown, { port, args }: Launch): Promise<RedisServer> {
  const child = spawn('redis-server', args, { stdio: 'ignore', env: plainEnvironment() })
  t.teardown(() => stopServer(child))
  await untilListening(port, { child, output: () => '' })
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    command: (line) => commanded(port, line),
    kill: () => killed(child),
  }
}

async function killed(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return
  child.kill('SIGKILL')
  await new Promise((resolve) => child.once('exit', resolve))
}

function commanded(port: number, line: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let stated = ''
    const socket = connect(port, '127.0.0.1', () => socket.end(`${line}\r\n`))
    socket
      .setEncoding('utf8')
      .on('data', (text: string) => (stated += text))
      .once('error', reject)
      .once('end', () => resolve(stated))
  })
}
