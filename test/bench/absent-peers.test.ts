import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { startPortkey } from '../../bench/peers.ts'
import { startTus } from '../../bench/transfers/peers.ts'

const upstream = { port: 1, embeddings: '{}', chat: '{}' }

t.test(
  'a peer of npm that is not installed is left out, in one line that says how it is added',
  async (t) => {
    const root = mkdtempSync(join(tmpdir(), 'sluice-absent-'))
    const reason = 'it is not installed; `npm ci --ignore-scripts --prefix tools/peers` adds it'
    t.same(await startPortkey(root, upstream), { name: 'portkey', absent: reason })
    t.same(await startTus({ root, downloadBytes: [] }), { name: 'tus', absent: reason })
  },
)
