import { fileURLToPath } from 'node:url'
import { loadCatalogue } from './catalogue/load.ts'
import { ConfigInvalid, readConfig, readFrom, type Config, type Problem } from './config.ts'
import type { Fields, Log } from './ports/observe.ts'
import { repeat } from './runner/repeat.ts'
import { openState } from './state/open.ts'
import { connectionBudget } from './store/budget.ts'
import { seedFirst } from './store/first-start.ts'
import { migrate } from './store/migrate.ts'
import { openStore } from './store/open.ts'
import { pruneFronts, pruneInvalidations } from './store/prune.ts'
import { openChannel, type Channel } from './supervisor/channel.ts'
import { holdLog } from './supervisor/held-log.ts'
import type { ChildPart, Role } from './supervisor/ipc.ts'
import { runNode } from './supervisor/node.ts'
import type { NodeGeneration, NodeStore } from './supervisor/node-parts.ts'
import { RUNNER_POOL_MAX } from './supervisor/shares.ts'
import { PACKAGE_ROOT } from './supervisor/version.ts'

const SHIPPED_CATALOGUE = fileURLToPath(new URL('catalog.json', PACKAGE_ROOT))
/** Milliseconds between two rounds of pruning. Decision. */
const PRUNE_MS = 60_000
/** Milliseconds of the supervisor's look at Postgres. */
const PROBE_MS_MAX = 400

function createLog(_: unknown): Log {
  const w = (level: string) => (event: string, fields: Fields = {}) => void process.stdout.write(JSON.stringify({ level, event, ...fields, cause: fields['cause'] instanceof Error ? fields['cause'].stack : fields['cause'] }) + '\n')
  return { debug: () => undefined, info: w('info'), warn: w('warn'), error: w('error') }
}

/**
 * Runs a node until it is told to end.
 * @returns the exit code; throws `ConfigInvalid` or `StartRefused`
 */
export async function serve(): Promise<number> {
  const { config } = readGeneration()
  const log = holdLog(createLog({ level: config.logLevel, base: { role: 'supervisor' } }))
  return runNode({
    log,
    readGeneration,
    openStore: openNodeStore(log),
    openRedis: (address) => {
      const state = openState({ ...addressOf(address), log })
      return { isUp: () => state.whenReachable(0), close: () => state.close() }
    },
    metrics: () => Promise.resolve(''),
  })
}

/** Runs one forked role in this process, which ends with its supervisor. */
export async function runRole(role: Role): Promise<void> {
  const channel = openChannel()
  try {
    const part = await channel.start
    await (role === 'front' ? runFront(part, channel) : runRunner(part, channel))
  } catch (problem) {
    channel.tell({ kind: 'failed', reason: problem instanceof Error ? problem.message : String(problem) })
    throw problem
  }
}

async function runFront(_part: ChildPart, channel: Channel): Promise<void> {
  channel.onDrain(() => process.exit(0))
  channel.tell({ kind: 'ready' })
}

/** Housekeeping that must go on whether or not anybody calls. */
async function runRunner(part: ChildPart, channel: Channel): Promise<void> {
  const config = configOf(part)
  const log = holdLog(createLog({ level: config.logLevel, base: { role: 'runner', slot: part.slot } }))
  const store = openStore({ url: part.databaseUrl, poolMax: RUNNER_POOL_MAX, applicationName: 'sluice-runner' })
  const stop = repeat({
    name: 'pruned',
    everyMs: PRUNE_MS,
    run: async () => ({ invalidations: await pruneInvalidations(store.sql), fronts: await pruneFronts(store.sql) }),
  }, { log, random: Math.random })
  channel.onDrain(() => {
    void stop().then(() => store.close()).finally(() => process.exit(0))
  })
  channel.tell({ kind: 'ready' })
  log.release()
}

/** The configuration and the catalogue together: both must be right before anything is started or replaced. */
function readGeneration(): NodeGeneration {
  const reading = readConfig()
  if (!reading.ok) throw new ConfigInvalid(reading.problems)
  const { config, settings, unknown, providerKeys } = reading.generation
  const loaded = loadCatalogue({ shippedFile: SHIPPED_CATALOGUE, extraFile: config.catalogFile })
  if (!loaded.ok) {
    throw new ConfigInvalid(loaded.problems.map((problem): Problem => ({ name: 'SLUICE_CATALOG', expected: `${problem.expected} (${problem.message})`, got: `${problem.file}#${problem.path}` })))
  }
  const names = loaded.catalogue.providers.flatMap(({ apiKeyEnv }) => (apiKeyEnv === null ? [] : [apiKeyEnv]))
  const keys = [...providerKeys(names)].map(([name, secret]) => [name, secret.reveal()] as const)
  return { config, settings, unknown, providerKeys: Object.fromEntries(keys) }
}

/** The child's own view of the generation that the supervisor chose. */
function configOf(part: ChildPart): Config {
  const reading = readFrom(part.settings)
  if (!reading.ok) throw new ConfigInvalid(reading.problems)
  return reading.generation.config
}

function addressOf(redis: ChildPart['redis']): { url: string | null; socketPath?: string } {
  return 'url' in redis ? { url: redis.url } : { url: null, socketPath: redis.socketPath }
}

function openNodeStore(log: Log): (url: string, node: string) => NodeStore {
  return (url, node) => {
    const store = openStore({ url, poolMax: 1, applicationName: 'sluice-supervisor' })
    return {
      migrate: async () => void await migrate(url, log),
      connections: (wanted) => connectionBudget(store.sql, node, wanted),
      makeFirstKeys: async (keep) => {
        const made = await seedFirst(store, keep)
        if (!made.ok) throw new Error('the first keys could not be made', { cause: made.failure.cause })
        return made.value
      },
      isUp: () => store.within(PROBE_MS_MAX, (sql) => sql`SELECT 1`).then(() => true, () => false),
      close: () => store.close(),
    }
  }
}
