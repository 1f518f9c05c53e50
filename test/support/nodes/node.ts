import { spawn } from 'node:child_process'
import { chmodSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { get, type OutgoingHttpHeaders } from 'node:http'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { ReadyFacts } from '../../../src/server/supervisor/banner.ts'
import { plainEnvironment } from '../load/load.ts'
import { openTestDatabase } from '../stores/postgres.ts'
import { processRow, tree } from '../load/process-cpu.ts'
import { ROOT } from '../source.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { freePort, hasEnded, spawnServer, stopServer, untilPrinted, type Spawned } from './spawned.ts'
import { REMOVAL, type Teardown } from '../teardown.ts'
import { served } from '../wire/served.ts'
import { until } from '../wait.ts'

/** A whole node in processes of its own, on ports and a data directory of its own. */
export interface TestNode {
  readonly pid: number
  readonly settings: Settings
  readonly dataDir: string
  readonly ready: ReadyFacts & { readonly event: string }
  /** Lines of stdout that are JSON. */
  lines(): readonly Record<string, unknown>[]
  /** Both outputs. */
  output(): string
  /** Pids of a role that run now. */
  pidsOf(role: 'front' | 'runner'): readonly number[]
  /** To one of that role, once one runs: of no process, a signal would go to the test's own group. */
  signal(role: 'front' | 'runner', signal: NodeJS.Signals): Promise<void>
  /** GET on the public port, with the first inference key. */
  get(path: string): Promise<{ readonly status: number; readonly body: string }>
  /** True when it serves a known key. */
  answers(): Promise<boolean>
  admin(path: string): Promise<{ readonly status: number; readonly body: string }>
  /** Its exit code, when it ends. */
  readonly ended: Promise<number | null>
  /** SIGINT; the exit code. */
  stop(): Promise<number | null>
  /** SIGKILL of the supervisor alone; resolves when nothing of the node runs any more. */
  killHard(): Promise<void>
}

export type Settings = Readonly<Record<string, string>>

export const READY_MS_MAX = 500_000
const STOP_MS_MAX = 45_000
const ANSWER_MS_MAX = 60_000

/**
 * Settings of a node that is alone: free ports and a fresh data directory, removed with the test. Its
 * Postgres is a database of the test cluster with all tables, unless the embedded one is what the test is
 * about, or making the tables is.
 */
export async function nodeSettings(
  t: Teardown,
  { isEmbedded = false, hasTables = true } = {},
): Promise<Settings> {
  const kind = hasTables ? 'migrated' : 'empty'
  const folder = temporaryFolder(t, 'node')
  // A test may hand the node to another user.
  chmodSync(folder, 0o777)
  const dataDir = join(folder, 'data')
  t.teardown(() => removeOutside(dataDir))
  return {
    SLUICE_PORT: String(await freePort()),
    SLUICE_ADMIN_PORT: String(await freePort()),
    SLUICE_DATA: dataDir,
    SLUICE_FRONTS: '1',
    SLUICE_WORKERS: '1',
    ...(isEmbedded ? {} : { DATABASE_URL: (await openTestDatabase(t, kind)).url }),
  }
}

/**
 * Starts a node and waits for its ready line; what still runs at the end of the test is killed, and the
 * folder of its socket removed.
 */
export async function startNode(
  t: Teardown,
  settings: Settings,
  command = sluice('serve'),
  cwd = ROOT,
): Promise<TestNode> {
  // As if npm had started it: it then drains when this test is ended by force, instead of staying for ever.
  const env = { npm_lifecycle_event: 'test', ...settings }
  const server = spawnServer(command[0] ?? '', command.slice(1), { env, cwd })
  t.teardown(async () => {
    await stopServer(server.child, STOP_MS_MAX)
    await removeSocket(settings['SLUICE_DATA'] ?? '')
  })
  const [line] = await untilPrinted(server, /^\{"event":"ready".*\}$/m, READY_MS_MAX)
  return nodeOf(server, settings, JSON.parse(line) as TestNode['ready'])
}

/** Runs a node, or a verb, that is expected to end by itself. */
export function runToEnd(
  settings: Settings,
  command = sluice('serve'),
): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  return new Promise((resolve) => {
    const env = { ...plainEnvironment(), ...settings }
    const child = spawn(command[0] ?? '', command.slice(1), { env, cwd: ROOT })
    let [stdout, stderr] = ['', '']
    child.stdout.on('data', (text: Buffer) => (stdout += text.toString()))
    child.stderr.on('data', (text: Buffer) => (stderr += text.toString()))
    child.once('close', (code) => resolve({ code, stdout, stderr }))
  })
}

/** The command line of a verb. */
export function sluice(...args: readonly string[]): readonly string[] {
  return [process.execPath, join(ROOT, 'bin/sluice'), ...args]
}

export { until }

function nodeOf(server: Spawned, settings: Settings, ready: TestNode['ready']): TestNode {
  const pid = server.child.pid ?? 0
  const dataDir = settings['SLUICE_DATA'] ?? ''
  return {
    pid,
    settings,
    dataDir,
    ready,
    ended: new Promise((resolve) => server.child.once('exit', (code) => resolve(code))),
    output: () => server.output(),
    lines: () => server.output().split('\n').flatMap(parsed),
    pidsOf: (role) =>
      tree(pid)
        .filter((row) => row.state !== 'Z' && row.arguments.join(' ').trim().startsWith(`sluice ${role}`))
        .map((row) => row.pid),
    async signal(role, signal) {
      await until(`a ${role} runs`, () => {
        const [first] = this.pidsOf(role)
        return first !== undefined && process.kill(first, signal)
      })
    },
    get: (path) =>
      served(() =>
        ask(ready.url + path, { authorization: `Bearer ${firstKeys(dataDir)['inference_key'] ?? ''}` }),
      ),
    answers() {
      return this.get('/api/v1/models/count').then(
        ({ status }) => status === 200,
        () => false,
      )
    },
    admin: (path) => ask(ready.admin_url + path, {}),
    async stop() {
      await stopServer(server.child, STOP_MS_MAX)
      return server.child.exitCode
    },
    async killHard() {
      const family = tree(pid).map((row) => row.pid)
      process.kill(pid, 'SIGKILL')
      await until('everything is gone', () => hasEnded(server.child) && family.every(isGone))
    },
  }
}

/**
 * A connection for each request. The global `fetch` keeps a pool for each origin, whose queue has stopped for
 * good at a connection that a killed front reset.
 */
function ask(
  url: string,
  headers: OutgoingHttpHeaders,
): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(ANSWER_MS_MAX)
    get(url, { agent: false, headers, signal }, (response) => {
      text(response).then((body) => resolve({ status: response.statusCode ?? 0, body }), reject)
    }).on('error', reject)
  })
}

/** A line of the log or the ready line; an unfinished one does not count yet. */
function parsed(line: string): Record<string, unknown>[] {
  return /^\{.*\}$/.test(line) ? [JSON.parse(line) as Record<string, unknown>] : []
}

export function firstKeys(dataDir: string): Readonly<Record<string, string>> {
  return JSON.parse(readFileSync(join(dataDir, 'first-keys.json'), 'utf8')) as Record<string, string>
}

/** A zombie is gone: under a first process that reaps late it keeps its pid for seconds. */
export function isGone(pid: number): boolean {
  return (processRow(pid)?.state ?? 'Z') === 'Z'
}

/** Removes what a node has outside of its data directory: the folder of a socket, and as root its cluster. */
export async function removeOutside(dataDir: string): Promise<void> {
  const cluster = recorded(join(dataDir, 'postgres.json'), 'cluster')
  if (/\/cluster-[0-9a-f]+$/.test(cluster)) await rm(cluster, REMOVAL)
  await removeSocket(dataDir)
}

/** A node that was killed leaves the folder of its Redis' socket; its next start makes another. */
async function removeSocket(dataDir: string): Promise<void> {
  const socketPath = recorded(join(dataDir, 'redis/server.json'), 'socketPath')
  if (/\/sluice-\w+\/redis\.sock$/.test(socketPath)) await rm(dirname(socketPath), REMOVAL)
}

/** A member of a record of the node; empty when the node is not embedded, never started, or ended as it wrote. */
function recorded(path: string, name: string): string {
  try {
    return String((JSON.parse(readFileSync(path, 'utf8')) as Readonly<Record<string, unknown>>)[name])
  } catch {
    return ''
  }
}
