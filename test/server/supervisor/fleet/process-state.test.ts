import t from 'tap'
import { identityOf } from '../../../../src/server/supervisor/fleet/process-state.ts'

t.test('a process is recognized from shells in different time zones, even without /proc', (t) => {
  const platform = Object.getOwnPropertyDescriptor(process, 'platform') ?? {}
  const { TZ } = process.env
  t.teardown(() => {
    Object.defineProperty(process, 'platform', platform)
    if (TZ === undefined) delete process.env['TZ']
    else process.env['TZ'] = TZ
  })
  Object.defineProperty(process, 'platform', { ...platform, value: 'darwin' })
  const seen = ['Asia/Tokyo', 'America/Lima'].map((zone) => {
    process.env['TZ'] = zone
    return identityOf(process.pid)
  })
  t.match(seen[0], { pid: process.pid, startedAt: /\d/ })
  t.same(seen[1], seen[0])
  t.end()
})
