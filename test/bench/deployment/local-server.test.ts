import t from 'tap'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { listenerOf } from '../../../bench/deployment/local-server.ts'
import { freePort } from '../../support/nodes/spawned.ts'

const NO_PROC = process.platform === 'linux' ? false : 'there is no /proc'

t.test('finds the process that listens on a port, and none for a free port', { skip: NO_PROC }, async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => void server.close())
  const address = server.address()
  t.equal(listenerOf(typeof address === 'object' && address !== null ? address.port : 0)?.pid, process.pid)
  t.equal(listenerOf(await freePort()), null)
})
