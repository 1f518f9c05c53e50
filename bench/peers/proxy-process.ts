/** A governing proxy in a process of its own; it ends with whoever started it. */
import { listenWithFastify } from './fastify-server.ts'
import { Governed } from './governed.ts'
import { listenWithNode } from './node-server.ts'
import type { ProxySettings } from './settings.ts'

async function listen(settings: ProxySettings): Promise<void> {
  const governed = new Governed(settings)
  if (settings.kind === 'node') await listenWithNode(governed, settings.port)
  else await listenWithFastify(governed, settings)
  process.send?.('ready')
}

process.on('disconnect', () => process.exit(0))
process.once('message', (settings: ProxySettings) => void listen(settings))
