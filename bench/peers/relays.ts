/** Relays without any check before the stand's provider: what a call costs that nothing governs. */
import { fileURLToPath } from 'node:url'
import { freePort, stopServer } from '../../test/support/nodes/spawned.ts'
import { startForked } from './forked.ts'
import type { HeapWatch } from '../heap/heap.ts'
import type { Target } from '../target.ts'
import type { BareRelaySettings } from './bare-relay.ts'

/** Program of a relay's process. */
const PROCESS = fileURLToPath(new URL('./bare-relay.js', import.meta.url))

const CLIENT_TEXTS: Readonly<Record<BareRelaySettings['name'], string>> = {
  relay: 'undici',
  'lean-relay': "the product's own client",
}

export interface RelayInput {
  readonly providerPort: number
  /** Body of the embeddings request. */
  readonly body: string
  /** Reads the relay's garbage. */
  readonly heap: HeapWatch
}

export async function startBareRelay(
  name: BareRelaySettings['name'],
  { providerPort, body, heap }: RelayInput,
): Promise<Target> {
  const port = await freePort()
  const settings: BareRelaySettings = { port, providerPort, name }
  const { env, execArgv } = heap
  const child = await startForked(PROCESS, settings, { name, env, execArgv })
  const pid = child.pid ?? 0
  return {
    name,
    pid,
    port,
    request: {
      method: 'POST',
      path: '/v1/embeddings',
      headers: { 'content-type': 'application/json' },
      body,
    },
    note: `uWebSockets.js and ${CLIENT_TEXTS[name]} alone, in one process: no keys, no limits, no checks, no metering, no log`,
    heap: () => heap.read(pid),
    stop: () => stopServer(child),
  }
}
