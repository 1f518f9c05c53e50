import t from 'tap'
import { noteUse } from '../../../../src/server/operations/containers/container-access.ts'
import type { Ports } from '../../../../src/server/ports/ports.ts'

t.test('a container use that cannot be recorded is logged, and the call continues', async (t) => {
  const lines: string[] = []
  const ports = {
    containerUses: { touch: () => Promise.reject(new Error('a bug')) },
    observer: { log: { error: (event: string) => void lines.push(event) } },
  } as unknown as Ports
  noteUse(ports, { workspaceId: 'w', containerId: 'sess_abc' })
  await new Promise((resolve) => setImmediate(resolve))
  t.same(lines, ['container.use_lost'])
})
