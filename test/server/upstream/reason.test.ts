import t from 'tap'
import { readReason } from '../../../src/server/upstream/reason.ts'

const read = (body: unknown): ReturnType<typeof readReason> =>
  readReason(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)))

t.test('the reason is found in the forms of all providers', async (t) => {
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

t.test('a code that is no code is not passed on', async (t) => {
  t.equal(read({ error: { message: 'm', code: 'DROP TABLE keys; --' } }).code, null)
})
