import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { AUTHORIZATION, openFront, operation } from '../../support/front.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const hasOpenssl = ((): boolean => {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()
const skip = hasOpenssl ? false : 'openssl is not installed: no certificate can be made'
const second = operation({
  method: 'get',
  path: '/second',
  input: {},
  run: () => ({ ok: true, value: { kind: 'json', value: 'second' } }),
})

function certificate(t: Test): { certFile: string; keyFile: string } {
  const folder = temporaryFolder(t, 'tls')
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const how = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-days',
    '2',
    '-subj',
    '/CN=localhost',
  ]
  execFileSync('openssl', [...how, '-keyout', keyFile, '-out', certFile], { stdio: 'ignore' })
  return { certFile, keyFile }
}

function getTls(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = {
      port,
      host: '127.0.0.1',
      path: '/api/v1/second',
      headers: { authorization: AUTHORIZATION },
      rejectUnauthorized: false,
      agent: false,
    }
    request(options, (answer) => {
      let text = ''
      answer.on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
      answer.on('end', () => resolve(`${answer.statusCode} ${text}`))
    })
      .on('error', reject)
      .end()
  })
}

t.test('with a certificate the port serves TLS', { skip }, async (t) => {
  const { port } = await openFront(t, [second], { tls: certificate(t) })
  t.equal(await getTls(port), '200 "second"')
})

t.test('connections above the limit are closed before the TLS handshake', { skip }, async (t) => {
  const { port, front } = await openFront(t, [second], { tls: certificate(t), connectionsMax: 0 })
  await t.rejects(getTls(port), /socket|ECONNRESET|EPIPE|disconnected/)
  t.match(front.connections, { open: 0, refused: 1 })
})

t.test(
  'a missing, broken or mismatched certificate prevents the start with an error',
  { skip },
  async (t) => {
    const [one, other] = [certificate(t), certificate(t)]
    writeFileSync(other.keyFile, 'no key')
    const failures = [
      { ...one, certFile: `${one.certFile}.gone` },
      { ...one, keyFile: certificate(t).keyFile },
      other,
    ].map((tls) =>
      openFront(t, [second], { tls }).then(
        () => 'started',
        (error: Error) => error.message,
      ),
    )
    for (const message of await Promise.all(failures)) t.match(message, /^the TLS files .* cannot be used: ./)
  },
)

t.test('an address that this machine does not have prevents the start', async (t) => {
  await t.rejects(openFront(t, [second], { host: '192.0.2.1' }), { message: 'cannot listen on 192.0.2.1:0' })
})
