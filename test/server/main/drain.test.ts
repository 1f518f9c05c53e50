import t from 'tap'
import { DRAIN_MS, NODE_DRAIN_MS_MAX } from '../../../src/schemas/limits/limits.ts'
import { readFrom } from '../../../src/server/config.ts'

t.test('SLUICE_DRAIN_MS sets how long running calls may take when a node ends', async (t) => {
  t.match(readFrom({}), { generation: { config: { drainMs: DRAIN_MS } } })
  t.match(readFrom({ SLUICE_DRAIN_MS: '0' }), { generation: { config: { drainMs: 0 } } })
  const beyond = { SLUICE_DRAIN_MS: String(NODE_DRAIN_MS_MAX + 1) }
  t.match(readFrom(beyond), { problems: [{ name: 'SLUICE_DRAIN_MS' }] })
})
