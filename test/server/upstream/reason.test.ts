import t from 'tap'
import { readReason } from '../../../src/server/upstream/reason.ts'

const read = (body: unknown): ReturnType<typeof readReason> =>
  readReason(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), {
    credential: 'top-secret',
    host: 'tei-7',
  })

t.test('finds the reason in the error formats of all providers', async (t) => {
  t.match(read({ error: { message: 'too long', code: 'context_length_exceeded' } }), {
    text: 'too long',
    code: 'context_length_exceeded',
  })
  t.match(read({ error: { message: 'bad', status: 'INVALID_ARGUMENT', code: 400 } }), {
    text: 'bad',
    code: 'INVALID_ARGUMENT',
  })
  t.match(read({ message: 'invalid request' }), { text: 'invalid request', code: null })
  t.match(read({ detail: 'wrong model' }), { text: 'wrong model' })
  t.match(read({ error: 'plain' }), { text: 'plain' })
})

t.test('finds the field that the provider blames in the error formats of all providers', async (t) => {
  const param = (body: object): string | null => read(body).param
  t.equal(param({ error: { message: 'm', param: 'messages[0].content' } }), 'messages[0].content')
  t.equal(param({ type: 'error', message: 'm', param: 'tools' }), 'tools', 'an event of responses')
  const violations = [
    { '@type': 'BadRequest', fieldViolations: [{ field: 'contents[0].parts', description: 'd' }] },
  ]
  t.equal(param({ error: { message: 'm', details: violations } }), 'contents[0].parts')
  const detail = [{ loc: ['body', 'messages', 0, 'user', 'content'], msg: 'm' }]
  t.equal(param({ detail }), 'messages[0].user.content')
  t.equal(param({ object: 'error', message: { detail } }), 'messages[0].user.content')
  for (const none of [null, '', 7, {}, ['x']]) t.equal(param({ error: { message: 'm', param: none } }), null)
})

t.test('a member that may be a key, a host or a text is not passed on', async (t) => {
  for (const param of [
    'top-secret',
    'op-secre',
    'x.top-secret.y',
    'headers.tei-7',
    'sk-abc',
    'AIzaSyA',
    'metadata.a1b2c3d4e5f6a7b8c9d0e1f2',
    'two words',
    'x'.repeat(129),
    'https://a.example',
  ])
    t.equal(read({ error: { message: 'm', param } }).param, null, param)
})

t.test('a body that says nothing readable gives no reason', async (t) => {
  for (const body of [
    '',
    '<html>',
    '[]',
    'null',
    '{}',
    '{"error":{"message":7}}',
    '{"detail":[{"msg":"x"}]}',
  ]) {
    t.match(read(body), { text: null, code: null, isCredential: false })
  }
})

t.test('links, hosts, keys and long quotations do not reach the caller', async (t) => {
  const clean = (message: string): string | null => read({ error: { message } }).text
  t.equal(clean('see https://internal.example/path?x=1 now'), 'see [link] now')
  t.equal(clean('host db-7.prod.internal failed'), 'host [link] failed')
  t.equal(clean('Incorrect API key: sk-proj-abc***xyz.'), 'Incorrect API key: […].')
  t.equal(clean(`value "${'secret words '.repeat(9)}" is bad`), 'value […] is bad')
  t.equal(clean('token abcdefghijklmnopqrstuvwxyz0123456789 is bad'), 'token […] is bad')
  t.equal(clean('two\nlines\u0000here'), 'two lines here')
  t.equal(clean('x '.repeat(1000))?.length, 301)
})

t.test('a code in an invalid form is not passed on', async (t) => {
  t.equal(read({ error: { message: 'm', code: 'DROP TABLE keys; --' } }).code, null)
  t.equal(read({ error: { message: 'm', code: 'op-secre' } }).code, null, 'a part of our key')
  t.equal(read({ error: { message: 'm', code: 'secret' } }).code, 'secret', 'a word that is in it too')
})

t.test('addresses, hosts of any suffix, our key and our host do not reach the caller', async (t) => {
  const clean = (message: string): string | null => read({ error: { message } }).text
  const hidden = [
    '10.0.0.7',
    '10.0.0.7:8080',
    'http:10.0.0.7',
    '::1',
    '[::1]:8080',
    '2001:db8::7',
    'fe80::1%eth0',
  ]
  hidden.push(
    'embedder:8080',
    'tei-7',
    'TEI-7:80',
    'tei-7/v1',
    'a.b.svc.cluster.prod2',
    'bücher.example',
    'me@host',
  )
  hidden.push(
    'localhost',
    'Bearer abc',
    'AIzaSyA',
    'ab****yz',
    'xtop-secretx',
    '(node.corp)',
    'host=node.corp,',
  )
  for (const part of hidden) {
    const text = clean(`before ${part} after`)
    t.match(text, /^before .*\[(?:link|…)\].* after$/, part)
    t.notMatch(text, /10\.0|::|8080|tei|prod2|example|corp|secret|abc|SyA|yz|eth0|localhost|@/i, part)
  }
})

t.test('keeps text that is not an address: figures, versions, models and names of parameters', async (t) => {
  const text = 'input[0] of text-embedding-3.5 has 8192.5 tokens, e.g. 4.1-mini: too long (max 8,192).'
  t.equal(read({ error: { message: text } }).text, text)
})

t.test('a code that contains our key or a host is left out', async (t) => {
  for (const code of ['x-top-secret', 'tei-7', 'node.corp', '10.0.0.7', 'sk-abc'])
    t.equal(read({ error: { message: 'm', code } }).code, null)
})

t.test('a key at the truncation point does not show its first half', async (t) => {
  const message = `https://${'x'.repeat(970)} ${'z'.repeat(23)} tail`
  t.equal(read({ error: { message } }).text, '[link]')
})

t.test('no pattern scans its input again: 60 KB of any filler take few steps', async (t) => {
  const fillings = ['a-', 'a.', 'a:', 'a', '"', '://', '\u0000', ' ', '1.', '*', 'bearer', '@', '\'"`']
  for (const filling of fillings) {
    const text = read({ error: { message: filling.repeat(60_000 / filling.length) } }).text ?? ''
    t.ok(text.length <= 301, filling)
  }
})
