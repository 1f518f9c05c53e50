/**
 * A whole node as an operator runs it, from the outside: `sluice serve` with a data directory and ports of
 * its own.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { plainEnvironment } from '../load/load.ts'
import type { LoadRequest } from '../load/load-plan.ts'
import { startMock, type Mock } from '../embeddings/mock.ts'
import { openTestDatabase } from '../stores/postgres.ts'
import { removeOutside } from './node.ts'
import { tree } from '../load/process-cpu.ts'
import { IS_TEST } from './is-test.ts'
import { ROOT } from '../source.ts'
import { freePort, spawnServer, stopServer, untilPrinted, type Spawned } from './spawned.ts'
import { REMOVAL } from '../teardown.ts'

export const STAND_MODEL = 'bench/embed'
/** Name of the environment variable that holds the provider's key. */
export const PROVIDER_KEY = 'STAND_PROVIDER_API_KEY'
const READY_TIMEOUT_MS = 180_000
/** Above the node's own drain. */
const STOP_MS = 45_000

export interface Stand {
  readonly pid: number
  readonly port: number
  readonly adminPort: number
  readonly dataDir: string
  readonly catalogFile: string
  readonly keys: FirstKeys
  readonly mock: Mock
  readonly settings: Readonly<Record<string, string>>
  /** Everything that the node printed. */
  output(): string
  /** Pids of its fronts. */
  fronts(): readonly number[]
  /** `sluice <args> --json` on the same settings; its answer. Throws on another exit code than 0. */
  cli(...args: readonly string[]): Promise<Record<string, unknown>>
  /** An embeddings request as a load sends it. */
  embeddings(apiKey?: string): LoadRequest
  admin(path: string): Promise<{ readonly status: number; readonly text: string }>
  stop(): Promise<void>
}

export interface FirstKeys {
  readonly base_url: string
  readonly inference_key: string
  readonly management_key: string
  readonly organization_id: string
  readonly workspace_id: string
}

export interface StandInput {
  /** Settings besides the stand's own. */
  readonly settings?: Readonly<Record<string, string>>
  /** Numbers of the one vector in the provider's answer. */
  readonly dimensions?: number
  readonly latencyMs?: number
  /** USD a token, as the catalogue writes it. */
  readonly price?: string
  /** Origin of a provider that stands in for the quick one. */
  readonly provider?: string
  /**
   * In place of the catalogue with one model on that provider; it may be made from the origin of the quick
   * one.
   */
  readonly catalogue?: object | ((mockOrigin: string) => object)
  /** In place of `bin/sluice`. */
  readonly program?: string
}

/** Starts provider and node; `stop` ends both and removes the data. */
export async function startStand(request: StandInput = {}): Promise<Stand> {
  const database = await databaseFor(request)
  const mock = await startMock({ dimensions: request.dimensions ?? 8, latencyMs: request.latencyMs ?? 0 })
  const folder = await mkdtemp(join(tmpdir(), 'sluice-stand-'))
  const [port, adminPort] = [await freePort(), await freePort()]
  const settings: Readonly<Record<string, string>> = {
    SLUICE_PORT: String(port),
    SLUICE_ADMIN_PORT: String(adminPort),
    SLUICE_DATA: join(folder, 'data'),
    SLUICE_CATALOG: join(folder, 'catalog.json'),
    SLUICE_FRONTS: '1',
    SLUICE_WORKERS: '1',
    [PROVIDER_KEY]: 'stand',
    ...database.settings,
    ...request.settings,
  }
  const mockOrigin = `http://127.0.0.1:${mock.port}`
  const own = typeof request.catalogue === 'function' ? request.catalogue(mockOrigin) : request.catalogue
  await writeFile(
    join(folder, 'catalog.json'),
    JSON.stringify(own ?? standCatalogue(request.provider ?? mockOrigin, request.price ?? '0.00000002')),
  )
  const server = spawnServer(process.execPath, [request.program ?? join(ROOT, 'bin/sluice'), 'serve'], {
    // As if npm had started it: it then drains when the run is ended by force.
    env: { npm_lifecycle_event: 'prove', ...settings },
    cwd: ROOT,
  })
  const stop = async (): Promise<void> => {
    await stopServer(server.child, STOP_MS)
    await mock.stop()
    await removeOutside(join(folder, 'data'))
    await rm(folder, REMOVAL)
    database.close()
  }
  try {
    await untilPrinted(server, /"event":"ready"/, READY_TIMEOUT_MS)
    const keys = JSON.parse(await readFile(join(folder, 'data/first-keys.json'), 'utf8')) as FirstKeys
    return standOf({ server, settings, port, adminPort, keys, mock, stop })
  } catch (failure) {
    await stop()
    throw failure
  }
}

/**
 * In a test, such as the short form of a proof among the tests, a database of the test cluster: to make a
 * cluster takes a quarter of the CPU of a start.
 */
async function databaseFor({ settings }: StandInput): Promise<{
  readonly settings: Readonly<Record<string, string>>
  close(): void
}> {
  const closers: (() => unknown)[] = []
  if (!IS_TEST || settings?.['DATABASE_URL'] !== undefined) return { settings: {}, close: () => undefined }
  const { url } = await openTestDatabase({ teardown: (close) => closers.push(close) })
  return { settings: { DATABASE_URL: url }, close: () => closers.forEach((close) => close()) }
}

interface Parts {
  readonly server: Spawned
  readonly settings: Readonly<Record<string, string>>
  readonly port: number
  readonly adminPort: number
  readonly keys: FirstKeys
  readonly mock: Mock
  readonly stop: () => Promise<void>
}

function standOf(parts: Parts): Stand {
  const { server, settings, port, adminPort, keys, mock, stop } = parts
  const pid = server.child.pid ?? 0
  return {
    pid,
    port,
    adminPort,
    keys,
    mock,
    settings,
    stop,
    dataDir: settings['SLUICE_DATA'] ?? '',
    catalogFile: settings['SLUICE_CATALOG'] ?? '',
    output: () => server.output(),
    fronts: () => frontsOf(pid),
    cli: (...args) => sluice(args, settings),
    embeddings: (apiKey = keys.inference_key) => embeddingsRequest(apiKey),
    admin: async (path) => {
      const answer = await fetch(`http://127.0.0.1:${adminPort}${path}`, { headers: { connection: 'close' } })
      return { status: answer.status, text: await answer.text() }
    },
  }
}

/** An embeddings request of the stand's model, as a load sends it. */
export function embeddingsRequest(apiKey: string): LoadRequest {
  return {
    method: 'POST',
    path: '/api/v1/embeddings',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
    body: JSON.stringify({
      model: STAND_MODEL,
      input: 'The quick brown fox jumps over the lazy dog.',
      encoding_format: 'float',
    }),
  }
}

/** Times that a verb runs whose connection to Postgres, its first step, was not there in time. */
const CONNECTS_MAX = 3

/**
 * Runs one command line verb and parses what it prints. @param tree folder of the built tree whose program
 * runs
 */
export async function sluice(
  args: readonly string[],
  settings: Readonly<Record<string, string>>,
  tree = ROOT,
): Promise<Record<string, unknown>> {
  for (let connects = 1; ; connects++) {
    try {
      return await sluiceOnce(args, settings, tree)
    } catch (problem) {
      if (connects === CONNECTS_MAX || !String(problem).includes('CONNECT_TIMEOUT')) throw problem
    }
  }
}

function sluiceOnce(
  args: readonly string[],
  settings: Readonly<Record<string, string>>,
  tree: string,
): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    const env = { ...plainEnvironment(), ...settings }
    execFile(
      process.execPath,
      [join(tree, 'bin/sluice'), ...args, '--json'],
      { env, cwd: tree },
      (error, stdout, stderr) => {
        if (error !== null) reject(new Error(`sluice ${args.join(' ')}: ${error.message}\n${stderr}`))
        else resolve(JSON.parse(stdout) as Record<string, unknown>)
      },
    )
  })
}

/** A catalogue with one model on one provider: the mock. */
export function standCatalogue(
  origin: string,
  prompt: string,
): { readonly providers: readonly object[]; readonly models: readonly object[] } {
  return {
    providers: [{ slug: 'bench', protocol: 'openai', base_url: `${origin}/v1`, api_key_env: PROVIDER_KEY }],
    models: [
      {
        id: STAND_MODEL,
        name: 'Bench',
        architecture: {
          modality: 'text->embeddings',
          input_modalities: ['text'],
          output_modalities: ['embeddings'],
        },
        endpoints: [{ provider: 'bench', upstream_model: 'bench-embed', pricing: { prompt } }],
      },
    ],
  }
}

/** Not the spare, which is loaded and serves no calls yet. */
function frontsOf(pid: number): readonly number[] {
  const isFront = (words: readonly string[]): boolean =>
    /(^|[ /])sluice front( |$)/.test(words.join(' ').trim())
  return tree(pid)
    .filter((row) => row.parent === pid && row.state !== 'Z' && isFront(row.arguments))
    .map((row) => row.pid)
}
