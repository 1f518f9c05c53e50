import t from 'tap'
import { fakeDeployment, KEY, loadTest, type Conduct } from './fake-deployment.ts'

const EMBEDDINGS = '/api/v1/embeddings'
const ONLY = ['--only', 'embeddings', '--connections', '2']

t.test('a load test stays within its announced maximum and records the results', async (t) => {
  const server = await fakeDeployment(t)
  const { code, output, record, written } = await loadTest(server.origin, ...ONLY)
  t.equal(code, 0, output)
  const [, most] = /at most (\d+) requests;/.exec(output) ?? []
  t.ok(server.seen.length <= Number(most), `${server.seen.length} of ${most}`)
  const [row] = record?.rows ?? []
  t.match(row, { scenario: 'deployment', subject: 'target', pace: 'closed', failed: 0 })
  t.ok((row?.requests_per_second.median ?? 0) > 0)
  t.equal(record?.settings['target'], server.origin)
  t.notOk(`${output}${written}`.includes(KEY), 'the key is nowhere')
})

t.test('counts 429 answers apart from failures and honours Retry-After', async (t) => {
  let answers = 0
  const conduct: Conduct = (_request, response) => {
    const isFirst = answers++ === 0
    response.writeHead(isFirst ? 200 : 429, isFirst ? {} : { 'retry-after': '3600' }).end()
  }
  const server = await fakeDeployment(t, { [EMBEDDINGS]: conduct })
  const { code, record } = await loadTest(server.origin, ...ONLY)
  t.same(
    [code, record?.rows[0]?.failed, answers],
    [0, 0, 3],
    'one before the load, and one of each connection',
  )
  t.match(record?.notes[0], /2 of 2 answers were 429/)
})

t.test('never follows a redirect to another host, neither before the load nor during it', async (t) => {
  const other = await fakeDeployment(t)
  const away: Conduct = (_request, response) =>
    void response.writeHead(307, { location: `${other.origin}/api/v1/${KEY}` }).end()
  const server = await fakeDeployment(t, { '/api/v1/key': away })
  const before = await loadTest(server.origin, ...ONLY)
  t.same([before.code, server.seen.length], [1, 1])
  t.match(before.output, /redirects \(307\) to http:\/\/127\.0\.0\.1:\d+, which is not followed/)
  let answers = 0
  const later = await fakeDeployment(t, {
    [EMBEDDINGS]: (request, response) => void (answers++ === 0 ? response.end() : away(request, response)),
  })
  const inside = await loadTest(later.origin, ...ONLY)
  t.equal(inside.code, 1)
  t.match(inside.record?.rows[0]?.failures, [/a redirect \(307\), which is not followed/])
  t.same(other.seen, [])
})

t.test('stops the load when the deployment begins to fail under it', async (t) => {
  let answers = 0
  const conduct: Conduct = (_request, response) => void response.writeHead(answers++ === 0 ? 200 : 500).end()
  const server = await fakeDeployment(t, { [EMBEDDINGS]: conduct })
  const { code, record } = await loadTest(server.origin, '--only', 'latency', '--connections', '2')
  t.same([code, record?.rows.length], [1, 1], 'the first of five cells')
  t.match(record?.notes[0], /failed \(status 500, \d+ times\): the rest was left out/)
})

t.test('a server that stops answering ends the test, and its unanswered calls count as failed', async (t) => {
  let answers = 0
  const conduct: Conduct = (request, response) =>
    void (answers++ < 3 ? response.end() : request.socket.destroy())
  const server = await fakeDeployment(t, { [EMBEDDINGS]: conduct })
  const { code, record } = await loadTest(server.origin, ...ONLY)
  t.equal(code, 1)
  t.ok((record?.rows[0]?.failed ?? 0) > 0)
})
