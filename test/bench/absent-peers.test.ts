import t from 'tap'
import { startPortkey } from '../../bench/peers.ts'
import { haproxyConfig, startHaproxy } from '../../bench/peers/haproxy.ts'
import { startTus } from '../../bench/transfers/peers.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const upstream = { port: 1, embeddings: '{}', chat: '{}' }

t.test(
  'leaves out an npm peer that is not installed, and prints one line that says how to install it',
  async (t) => {
    const root = temporaryFolder(t, 'absent')
    const reason = 'it is not installed; `npm ci --ignore-scripts --prefix tools/peers` adds it'
    t.same(await startPortkey(root, upstream), { name: 'portkey', absent: reason })
    t.same(await startTus({ root, downloadBytes: [] }), { name: 'tus', absent: reason })
  },
)

t.test('leaves out a system proxy that is not installed, and prints how to install it', async (t) => {
  const path = process.env['PATH']
  t.teardown(() => void (process.env['PATH'] = path))
  process.env['PATH'] = '/nonexistent'
  const found = await startHaproxy(upstream)
  if ('absent' in found) t.match(found, { name: 'haproxy', absent: /apt-get install haproxy/ })
  else await found.stop()
})

t.test('HAProxy finds the caller by a map and counts in a table, on one thread', async (t) => {
  const config = haproxyConfig({ keysFile: '/tmp/keys', port: 1, providerPort: 2 })
  t.match(config, /nbthread 1\n/)
  t.match(config, /http_auth_bearer,map_str\(\/tmp\/keys\)/)
  t.match(config, /track-sc0 .* table rates/)
})
