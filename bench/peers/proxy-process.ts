/** A governing proxy in a process of its own; the process ends with its parent. */
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
