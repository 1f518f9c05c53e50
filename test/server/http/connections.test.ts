import t from 'tap'
import {
  CONNECTIONS_MAX,
  DESCRIPTORS_RESERVED,
  connectionsMax,
} from '../../../src/server/http/connections.ts'
import { openFront, operation } from '../../support/front.ts'
import { rawClient, requestText } from '../../support/wire/raw-http.ts'

t.test(
  'connections above the limit are closed, existing ones are still served, and freed places are reused',
  async (t) => {
    const { port, front } = await openFront(t, [operation()], { connectionsMax: 3 })
    const idle = Array.from({ length: 3 }, () => rawClient(port))
    while (front.connections.open < 3) await new Promise(setImmediate)
    const late = rawClient(port)
    late.send(requestText('GET /healthz'))
    t.equal(await late.closed(), '')
    t.match(front.connections, { open: 3, refused: 1 })
    const [first, ...others] = idle
    for (const client of others) {
      client.send(requestText('GET /healthz'))
      t.match(await client.until(/\}$/), /200 OK/)
    }
    first?.destroy()
    while (front.connections.open > 2) await new Promise(setImmediate)
    const next = rawClient(port)
    next.send(requestText('GET /healthz'))
    t.match(await next.until(/\}$/), /200 OK/)
    t.match(front.connections, { open: 3, refused: 1 })
    for (const client of [...others, next]) client.destroy()
  },
)

t.test('descriptors are reserved for providers and stores, half of all when there are few', async (t) => {
  const limits = (soft: string): string =>
    `Limit                     Soft Limit           Hard Limit           Units     \n` +
    `Max processes             63204                63204                processes \nMax open files            ${soft}    4096    files     \n`
  t.equal(connectionsMax(0, limits('1024')), 512)
  t.equal(connectionsMax(0, limits('4096')), 4_096 - DESCRIPTORS_RESERVED)
  t.equal(connectionsMax(500, limits('4096')), 4_096 - DESCRIPTORS_RESERVED - 500)
  t.equal(connectionsMax(2_048, limits('4096')), 2_048)
  for (const many of [limits('1048576'), limits('unlimited'), ''])
    t.equal(connectionsMax(2_048, many), CONNECTIONS_MAX)
  t.ok(connectionsMax(0) > 0)
})
