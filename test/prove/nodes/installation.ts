/** Two nodes behind the load balancer of deploy/, of this tree or of another, and how one is replaced. */
import { chmodSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  makeSecrets,
  nodeEnvironment,
  startBalancer,
  startOne,
  type RunningBalancer,
  type RunningNode,
} from '../../support/nodes/nodes.ts'
import { isOnPath, outsidePostgres } from '../../support/nodes/outside-stores.ts'
import { openTestDatabase } from '../../support/stores/postgres.ts'
import { FakeS3, s3Settings } from '../../support/files/s3.ts'
import { freePort, spawnServer, stopServer, untilListening } from '../../support/nodes/spawned.ts'
import { sluice, type FirstKeys } from '../../support/nodes/stand.ts'
import { ROOT } from '../../support/source.ts'
import { until } from '../../support/wait.ts'
import type { Proof } from '../proof.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

export interface Installation {
  readonly url: string
  readonly port: number
  readonly databaseUrl: string
  readonly balancer: RunningBalancer
  readonly nodes: RunningNode[]
  readonly env: Readonly<Record<string, string>>
  readonly keys: FirstKeys
}

export interface InstallationInput {
  /** Folder of the built tree that migrates and whose nodes start. */
  readonly tree?: string
  /** Of the nodes, besides those of compose. */
  readonly settings?: Readonly<Record<string, string>>
  /** Starts the load balancer; absent: nginx. */
  readonly balance?: typeof startBalancer
}

/** What of the programs that an installation needs is missing; null: nothing. */
export async function whyNotInstalled(): Promise<string | null> {
  for (const name of ['nginx', 'redis-server'])
    if (!(await isOnPath(name))) return `${name} is not on the PATH`
  return null
}

export async function install(
  proof: Proof,
  { tree = ROOT, settings = {}, balance = startBalancer }: InstallationInput = {},
): Promise<Installation> {
  const folder = temporaryFolder(proof, 'nodes')
  chmodSync(folder, 0o755)
  const secrets = makeSecrets(folder)
  const databaseUrl = await databaseOf(proof)
  const redisPort = await startRedis(proof, { folder, secrets })
  const bucket = await FakeS3.start(proof)
  const stores = { databaseUrl, redisPlace: `127.0.0.1:${redisPort}`, bucket: s3Settings(bucket) }
  const env = { ...nodeEnvironment(secrets, stores), ...settings }
  const migrated = await sluice(['migrate'], env, tree)
  proof.check(
    'one migration comes before the nodes',
    Number(migrated['migration']) > 0,
    JSON.stringify(migrated),
  )
  const nodes: RunningNode[] = []
  proof.after(async () => void (await Promise.all(nodes.map((node) => node.stop()))))
  // One after the other, as compose does: the first one makes the first keys.
  for (const name of ['node-1', 'node-2'])
    nodes.push(await startOne({ dataDir: join(folder, name), env, port: await freePort(), tree }))
  const port = await freePort()
  const balancer = await balance({
    folder: join(folder, 'balancer'),
    port,
    nodes: nodes.map((node) => node.port),
  })
  proof.after(() => balancer.stop())
  const keys = JSON.parse(readFileSync(join(folder, 'node-1/first-keys.json'), 'utf8')) as FirstKeys
  return { url: `http://127.0.0.1:${port}`, port, databaseUrl, balancer, nodes, env, keys }
}

/** @returns its port */
async function startRedis(
  proof: Proof,
  { folder, secrets }: { readonly folder: string; readonly secrets: string },
): Promise<number> {
  const port = await freePort()
  const config = join(secrets, 'redis.conf')
  const place = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder]
  const redis = spawnServer('redis-server', [config, ...place])
  proof.after(() => stopServer(redis.child))
  await untilListening(port, redis)
  return port
}

async function databaseOf(proof: Proof): Promise<string> {
  if (proof.isShort) return (await openTestDatabase(proof, 'empty')).url
  const postgres = await outsidePostgres()
  proof.after(() => postgres.close())
  return postgres.url
}

/** A balancer passes over a node for a while after a failed connection, also when the node is ready again. */
export async function untilSentTo({ balancer, nodes }: Installation, index: number): Promise<void> {
  const address = `127.0.0.1:${nodes[index]?.port}`
  const before = balancer.answered()[address] ?? 0
  await until('the balancer sends to the node again', () => (balancer.answered()[address] ?? 0) > before)
}

export interface Replacement {
  readonly index: number
  /** Folder of the built tree of the node that follows. */
  readonly tree?: string
  /** False: nothing follows. */
  readonly isStarted?: boolean
}

/** Ends a node by SIGTERM and starts another on its data and its port, as in an upgrade. */
export async function replaceNode(
  proof: Proof,
  { nodes, env }: Installation,
  { index, tree = ROOT, isStarted = true }: Replacement,
): Promise<void> {
  const node = nodes[index]
  if (node === undefined) throw new Error(`there is no node ${index}`)
  const code = await node.stop('SIGTERM')
  proof.check(`the node on ${node.port} drains under load`, code === 0, `exit code ${code}`)
  if (isStarted) nodes[index] = await startOne({ dataDir: node.dataDir, env, port: node.port, tree })
}
