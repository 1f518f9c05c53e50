import t from 'tap'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { once } from 'node:events'
import { createServer as createPlainServer } from 'node:net'
import { NO_OPENSSL, selfSigned } from '../../support/wire/certificate.ts'
import { freePort } from '../../support/nodes/spawned.ts'
import { fakeDeployment, KEY, loadTest, type Conduct } from './fake-deployment.ts'

const ONLY = ['--only', 'embeddings', '--connections', '2']

t.test(
  'reports a server that refuses, stalls or hangs up in one line, without the key, and stops',
  async (t) => {
    const conducts: readonly (readonly [Conduct, RegExp])[] = [
      [(_request, response) => void response.writeHead(401).end(KEY), /refuses the key \(401\)/],
      [(_request, response) => void response.writeHead(404).end(KEY), /knows no such path or model \(404\)/],
      [
        (_request, response) => void response.writeHead(302, { location: `https://${KEY}.example/` }).end(),
        /redirects \(302\) to https:\/\/….example/,
      ],
      [
        (_request, response) => void response.writeHead(429, { 'retry-after': '9' }).end(),
        /limits the rate of this key already \(429\)/,
      ],
      [(request) => void request.socket.destroy(), /hangs up before it has answered/],
      [(request) => void request.socket.end('220 mail.example ESMTP\r\n'), /does not speak HTTP/],
      [(_request, response) => void response.write('{'), /does not answer within 10 s/],
    ]
    await Promise.all(
      conducts.map(async ([conduct, expected]) => {
        const server = await fakeDeployment(t, { '/api/v1/key': conduct })
        const { code, output, record } = await loadTest(server.origin, ...ONLY)
        t.same([code, record, server.seen.length], [1, null, 1], expected.source)
        t.match(output.trim().split('\n')[1], expected)
        t.equal(output.trim().split('\n').length, 2)
        t.notOk(output.includes(KEY))
      }),
    )
  },
)

t.test('reports a refused connection and an unknown name in one line', async (t) => {
  const refused = await loadTest(`http://127.0.0.1:${await freePort()}`, ...ONLY)
  t.match([refused.code, refused.output], [1, /refuses connections/])
  const unknown = await loadTest('http://nowhere.invalid', ...ONLY)
  t.match([unknown.code, unknown.output], [1, /the name nowhere\.invalid cannot be found \(DNS: /])
})

t.test(
  'over TLS: tests a server whose issuer is trusted, and sends nothing when it is not trusted',
  { skip: NO_OPENSSL },
  async (t) => {
    const { certFile, keyFile } = selfSigned(t)
    let requests = 0
    const server = createServer(
      { cert: readFileSync(certFile), key: readFileSync(keyFile) },
      (request, response) => {
        requests++
        request.resume().on('end', () => response.end('{}'))
      },
    )
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => void server.close())
    const address = server.address()
    const origin = `https://localhost:${typeof address === 'object' && address !== null ? address.port : 0}`
    const untrusted = await loadTest(origin, ...ONLY)
    t.match(
      [untrusted.code, untrusted.output, requests],
      [1, /certificate that is not trusted .*--ca FILE/, 0],
    )
    const { code, record } = await loadTest(origin, ...ONLY, '--ca', certFile)
    t.match([code, record?.rows[0]?.failed], [0, 0])
    t.ok(requests > 5)
  },
)

t.test('reports a server without TLS at an https origin', async (t) => {
  const server = createPlainServer(
    (socket) => void socket.on('error', () => {}).end('HTTP/1.1 400 Bad Request\r\n\r\n'),
  ).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => void server.close())
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  t.match(
    (await loadTest(`https://127.0.0.1:${port}`, ...ONLY)).output,
    /does not speak TLS as it should .*is it http:\/\/\?/,
  )
})
