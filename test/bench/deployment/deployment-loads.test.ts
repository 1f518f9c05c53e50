import t from 'tap'
import { fakeDeployment, interruptedTest, loadTest, type Conduct } from './fake-deployment.ts'

t.test('leaves out operations that the key may not call, and calls no operation that writes', async (t) => {
  const good: Conduct = (_request, response) => void response.end('{}')
  const paths = Object.fromEntries(['/api/v1/key', '/api/v1/models'].map((path) => [path, good]))
  const server = await fakeDeployment(t, {
    ...paths,
    '*': (_request, response) => void response.writeHead(403).end(),
  })
  const { code, record } = await loadTest(server.origin, '--only', 'operations')
  t.equal(code, 0)
  t.same(
    record?.rows.map((row) => row.case),
    ['models.list', 'keys.get_current'],
  )
  t.match(
    record?.absent.find(({ name }) => name === 'audit.list'),
    { reason: 'this key gets 403' },
  )
  t.ok(server.seen.every((one) => one.startsWith('GET ')))
})

t.test('uploads require --allow-writes, and each uploaded file is removed again', async (t) => {
  const server = await fakeDeployment(t)
  const refused = await loadTest(server.origin, '--only', 'uploads')
  t.match([refused.code, refused.output, server.seen], [2, /--allow-writes/, []])
  const { code, record } = await loadTest(
    server.origin,
    '--only',
    'uploads',
    '--allow-writes',
    '--payload',
    '10KB',
  )
  t.match([code, record?.rows[0]], [0, { failed: 0, payload_bytes: 10_000 }])
  const times = (method: string): number => server.seen.filter((one) => one.startsWith(method)).length
  t.ok(times('POST') > 1 && times('POST') <= 16)
  t.equal(times('DELETE'), times('POST'))
})

t.test('an interrupted test starts nothing more and removes its files', async (t) => {
  const server = await fakeDeployment(t)
  const times = (method: string): number => server.seen.filter((one) => one.startsWith(method)).length
  const args = ['--only', 'uploads', '--allow-writes', '--payload', '10KB', '--duration', '60']
  const { code, record, output } = await interruptedTest(server.origin, args, () => times('POST') > 1)
  t.same([code, record?.notes], [1, ['interrupted: the rest was left out']], output)
  // Of the 1,200 that a minute would have.
  t.ok(times('POST') < 200)
  t.equal(times('DELETE'), times('POST'))
})

t.test('an interruption ends the current rate at once', async (t) => {
  const server = await fakeDeployment(t)
  const { code, record } = await interruptedTest(
    server.origin,
    ['--only', 'latency', '--duration', '60'],
    () => server.seen.length > 4,
  )
  t.same([code, record?.rows], [1, []])
})
