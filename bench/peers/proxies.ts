/** Proxies that govern an embeddings call as the product does, on other HTTP servers. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort, stopServer } from '../../test/support/nodes/spawned.ts'
import { STAND_MODEL, type Stand } from '../../test/support/nodes/stand.ts'
import { startForked } from './forked.ts'
import { NO_PEERS, packageVersion } from '../peers.ts'
import type { Absent, Target } from '../target.ts'
import type { ProxyKey, ProxyKind, ProxySettings } from './settings.ts'

/** The stand's price in the unit of the catalogue. */
const PROMPT_NANO_PER_MILLION = 20_000_000
/** Program of a proxy's process. */
const PROCESS = fileURLToPath(new URL('./proxy-process.js', import.meta.url))
/** Folder with the installed peers, from the repository's root. */
const PEERS = 'tools/peers'

const ALIKE =
  'key by its SHA-256 in a map, GCRA rate limit, budget, body limit, the same JSON reader and compiled validator, usage metered, errors in the envelope; ' +
  "all of it in this process's memory: no journal, no ledger, no revocation, no metrics, no log"

export interface ProxyInput {
  /** Root of the repository. */
  readonly root: string
  /** Keys beside the stand's first key, which has no limit. */
  readonly keys?: readonly ProxyKey[]
}

/** Starts a proxy before the stand's own provider, with the stand's own key. */
export async function startProxy(
  kind: ProxyKind,
  stand: Stand,
  { root, keys = [] }: ProxyInput,
): Promise<Target | Absent> {
  const packages = join(root, PEERS)
  const installed = join(packages, 'node_modules/fastify')
  if (kind === 'fastify' && !existsSync(installed)) return { name: kind, absent: NO_PEERS }
  const { inference_key: key, management_key: management } = stand.keys
  const settings: ProxySettings = {
    kind,
    packages,
    port: await freePort(),
    provider: `http://127.0.0.1:${stand.mock.port}/v1`,
    providerKey: 'stand',
    models: [
      { id: STAND_MODEL, upstreamModel: 'bench-embed', promptNanoPerMillion: PROMPT_NANO_PER_MILLION },
    ],
    keys: [
      { key, kind: 'inference', limitRpm: null, limitNano: null },
      { key: management, kind: 'management', limitRpm: null, limitNano: null },
      ...keys,
    ],
  }
  const child = await startForked(PROCESS, settings, { name: `${kind} proxy` })
  const server =
    kind === 'fastify' ? `fastify ${packageVersion(installed)}` : `node:http of Node ${process.versions.node}`
  return {
    name: kind,
    pid: child.pid ?? 0,
    port: settings.port,
    request: stand.embeddings(),
    note: `${server} and undici with the same checks: ${ALIKE}`,
    stop: () => stopServer(child),
  }
}
