import { createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import t from 'tap'
import { privateBytesOf, watchRest } from '../../../bench/start/at-rest.ts'
import { holdOpen } from '../../../bench/start/held.ts'

t.test('reads memory, CPU and switches of a process tree', async (t) => {
  const reading = await watchRest(process.pid, 0.05)
  t.ok(reading.privateBytes > 1e6 && reading.cpuShare > 0 && reading.switchesPerS > 0)
  t.equal(
    reading.kinds.reduce((sum, { processes }) => sum + processes, 0),
    1,
  )
  t.equal(privateBytesOf(0), 0)
})

t.test('a node that closes connections which it should keep open has no figure', async (t) => {
  const server = createServer((socket) => socket.end()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const held = holdOpen(
    { pid: process.pid, port },
    { name: 'x', count: 2, bytes: Buffer.from('x') },
    { settleMs: 1_000, warmMs: 0 },
  )
  await t.rejects(held, /ended 2 of 2/)
})
