/** Our own gateway on the rig: the whole node as `npm start` runs it, and the same parts without their governing stages. */
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { plainEnvironment } from '../test/support/load.ts'
import type { Upstream } from './peers.ts'
import { freePort, spawnServer, stopServer, untilListening, type Absent, type Spawned, type Target } from './target.ts'

export const BENCH_MODEL = 'bench/embed'
const PROVIDER_KEY = 'SLUICE_BENCH_PROVIDER_API_KEY'
const READY_TIMEOUT_MS = 60_000

/** A catalogue with one model on one provider: the mock. */
export function benchCatalogue(upstreamPort: number): object {
  return {
    providers: [{ slug: 'bench', protocol: 'openai', base_url: `http://127.0.0.1:${upstreamPort}/v1`, api_key_env: PROVIDER_KEY }],
    models: [{
      id: BENCH_MODEL,
      name: 'Bench',
      architecture: { modality: 'text->embeddings', input_modalities: ['text'], output_modalities: ['embeddings'] },
      endpoints: [{ provider: 'bench', upstream_model: 'bench-embed', pricing: { prompt: '0.00000002' } }],
    }],
  }
}

/** @param root the repository's root; one front, embedded stores, an inference key without a rate limit */
export async function startGateway(root: string, upstream: Upstream): Promise<Target> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'))
  await writeFile(join(folder, 'catalog.json'), JSON.stringify(benchCatalogue(upstream.port)))
  const port = await freePort()
  const server = spawnServer(process.execPath, [join(root, 'bin/sluice'), 'serve'], {
    SLUICE_PORT: String(port),
    SLUICE_ADMIN_PORT: String(await freePort()),
    SLUICE_DATA: join(folder, 'data'),
    SLUICE_CATALOG: join(folder, 'catalog.json'),
    SLUICE_FRONTS: '1',
    SLUICE_WORKERS: '1',
    [PROVIDER_KEY]: 'bench',
  }, root)
  await untilReady(server)
  const keys: unknown = JSON.parse(await readFile(join(folder, 'data/first-keys.json'), 'utf8'))
  const key = typeof keys === 'object' && keys !== null && 'inference_key' in keys ? String(keys.inference_key) : ''
  return {
    name: 'sluice',
    pid: server.child.pid ?? 0,
    port,
    request: {
      method: 'POST',
      path: '/api/v1/embeddings',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: upstream.embeddings,
    },
    note: 'the whole node with one front: supervisor, front, runner, embedded Postgres and Redis; key checks, limits, validation, metering',
    async stop() {
      await stopServer(server.child, 40_000)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const UNGOVERNED = fileURLToPath(new URL('./ungoverned.js', import.meta.url))

/** The same exchange, body reader and upstream, without access, limits, validation and metering. */
export async function startUngoverned(upstream: Upstream): Promise<Target | Absent> {
  if (!existsSync(UNGOVERNED)) return { name: 'ungoverned', absent: 'not built' }
  const port = await freePort()
  const child = fork(UNGOVERNED, { env: plainEnvironment(), execArgv: [] })
  child.send({ port, upstreamPort: upstream.port })
  await Promise.race([once(child, 'message'), once(child, 'exit').then(() => { throw new Error('the ungoverned pipeline did not start') })])
  await untilListening(port, { child, output: () => '' })
  return {
    name: 'ungoverned',
    pid: child.pid ?? 0,
    port,
    request: { method: 'POST', path: '/api/v1/embeddings', headers: { 'content-type': 'application/json' }, body: upstream.embeddings },
    note: 'our own exchange, body reader, upstream call and reply, composed without access, limits, validation and metering',
    stop: () => stopServer(child),
  }
}

async function untilReady(server: Spawned): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`not ready in ${READY_TIMEOUT_MS} ms:\n${server.output()}`)), READY_TIMEOUT_MS)
    let text = ''
    server.child.stdout?.on('data', (bytes: Buffer) => {
      text += bytes.toString()
      if (/"event":"ready"/.test(text)) {
        clearTimeout(timer)
        resolve()
      }
    })
    server.child.once('exit', (code) => {
      clearTimeout(timer)
      reject(new Error(`the gateway ended with ${code}:\n${server.output()}`))
    })
  })
}
