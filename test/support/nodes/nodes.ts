/**
 * Several nodes as deploy/compose.yaml runs them, on this machine: its environment, its secrets, its load
 * balancer, without containers.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { at, DEPLOY, deployFile, environmentOf, secretFile, yamlOf } from './deploy.ts'
import { plainEnvironment } from '../load/load.ts'
import { ROOT } from '../source.ts'
import { READY_MS_MAX } from './node.ts'
import { freePort, spawnServer, stopServer, untilListening, untilPrinted, type Spawned } from './spawned.ts'

/** Above a node's own drain. */
const STOP_MS = 90_000

export interface BalancerPlace {
  readonly folder: string
  readonly port: number
  /** Public ports of the nodes, in their order. */
  readonly nodes: readonly number[]
}

/** deploy/nginx.conf with the places of this machine in those of the containers. */
export function balancerConfig({ folder, port, nodes }: BalancerPlace): string {
  return (
    nodes
      .reduce(
        (text, node, index) => text.replace(`node-${index + 1}:8080`, `127.0.0.1:${node}`),
        deployFile('nginx.conf'),
      )
      .replace('listen 8080;', `listen 127.0.0.1:${port};`)
      .replaceAll('/tmp/', `${folder}/`)
      .replace('/dev/stdout', `${folder}/access.log`)
      .replace('/dev/stderr', `${folder}/error.log`)
      // On a machine of many cores there would be as many workers.
      .replace('worker_processes auto;', 'worker_processes 1;')
  )
}

export interface Stores {
  readonly databaseUrl: string
  /** Host and port; the password is that of the secrets. */
  readonly redisPlace: string
  /** Settings of the bucket. */
  readonly bucket: Readonly<Record<string, string>>
}

/** Runs deploy/secrets.sh in a copy. @returns the folder of the secrets */
export function makeSecrets(folder: string): string {
  cpSync(`${DEPLOY}secrets.sh`, join(folder, 'secrets.sh'))
  const { status, stderr } = spawnSync('sh', [join(folder, 'secrets.sh')], {
    encoding: 'utf8',
    env: plainEnvironment(),
  })
  if (status !== 0) throw new Error(`secrets.sh failed: ${stderr}`)
  return join(folder, 'secrets')
}

/**
 * The environment that compose gives to each node, with the stores of this machine in the file of settings.
 */
export function nodeEnvironment(
  secrets: string,
  { databaseUrl, redisPlace, bucket }: Stores,
): Readonly<Record<string, string>> {
  const file = join(secrets, 'settings.json')
  const settings = JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, string>>
  const redisUrl = settings['REDIS_URL']?.replace('redis:6379', redisPlace)
  chmodSync(file, 0o600)
  writeFileSync(
    file,
    JSON.stringify({
      ...settings,
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      ...named(bucket, /^AWS_/),
    }),
  )
  const [compose] = yamlOf(deployFile('compose.yaml'))
  return {
    ...environmentOf(compose, 'node-1'),
    SLUICE_CONFIG: file,
    SLUICE_ROOT_KEY_FILE: join(secrets, secretFile(at(compose, 'secrets', 'root-key'))),
    ...named(bucket, /^SLUICE_/),
    SLUICE_ADMIN_HOST: '127.0.0.1',
    SLUICE_FRONTS: '1',
    SLUICE_WORKERS: '1',
  }
}

function named(settings: Readonly<Record<string, string>>, form: RegExp): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(settings).filter(([name]) => form.test(name)))
}

export interface RunningNode {
  readonly port: number
  readonly dataDir: string
  readonly server: Spawned
  /** Its exit code. @param signal SIGINT unless another is given */
  stop(signal?: 'SIGINT' | 'SIGTERM'): Promise<number | null>
}

export interface NodePlace {
  readonly dataDir: string
  readonly env: Readonly<Record<string, string>>
  readonly port: number
  /** Folder of the built tree whose program it runs; absent: this one. */
  readonly tree?: string
}

/** Starts one, and waits until it is ready. */
export async function startOne({ dataDir, env, port, tree = ROOT }: NodePlace): Promise<RunningNode> {
  // Ports come round again, also that of a node which is away for the moment.
  const ports = [await freePort(), await freePort()]
  const adminPort = ports.find((free) => free !== port)
  const server = spawnServer(process.execPath, [join(tree, 'bin/sluice')], {
    // As if npm had started it: it then drains when the run is ended by force.
    env: {
      npm_lifecycle_event: 'prove',
      ...env,
      SLUICE_DATA: dataDir,
      SLUICE_PORT: String(port),
      SLUICE_ADMIN_PORT: String(adminPort),
    },
    cwd: tree,
  })
  try {
    await untilPrinted(server, /"event":"ready"/, READY_MS_MAX)
  } catch (problem) {
    await stopServer(server.child)
    throw problem
  }
  return {
    port,
    dataDir,
    server,
    async stop(signal) {
      await stopServer(server.child, STOP_MS, signal)
      return server.child.exitCode
    },
  }
}

export interface RunningBalancer {
  /** Addresses of nodes that answered so far, by how often. */
  answered(): Readonly<Record<string, number>>
  /** Lines that it wrote of errors. */
  errors(): readonly string[]
  stop(): Promise<void>
}

/** Starts nginx in the foreground. */
export async function startBalancer(place: BalancerPlace): Promise<RunningBalancer> {
  mkdirSync(place.folder, { recursive: true })
  chmodSync(place.folder, 0o755)
  const config = join(place.folder, 'nginx.conf')
  writeFileSync(config, balancerConfig(place))
  const server = spawnServer('nginx', [
    '-c',
    config,
    '-e',
    join(place.folder, 'error.log'),
    '-g',
    'daemon off;',
  ])
  await untilListening(place.port, server)
  return {
    answered() {
      const rows = readFileSync(join(place.folder, 'access.log'), 'utf8')
        .split('\n')
        .map((line) => line.split(' ').at(-1) ?? '')
      const counts: Record<string, number> = {}
      for (const row of rows.filter((address) => /^127/.test(address))) counts[row] = (counts[row] ?? 0) + 1
      return counts
    },
    errors: () =>
      readFileSync(join(place.folder, 'error.log'), 'utf8')
        .split('\n')
        .filter((line) => line !== ''),
    stop: () => stopServer(server.child),
  }
}
