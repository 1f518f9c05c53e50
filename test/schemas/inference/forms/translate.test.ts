import t from 'tap'
import { translateRequest } from '../../../../src/schemas/inference/forms/translate.ts'
import { LAX } from '../../../support/inference/bodies/translated.ts'

const bytesOf = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value))

t.test('bytes of one form become bytes of another one, texts unchanged', (t) => {
  const content = 'ü\u2028"\\\u0000😀</script>'
  // The body is part of a larger buffer, as those of uploads are.
  const json = bytesOf({ model: 'm', messages: [{ role: 'user', content }], seed: 1 })
  const body = Buffer.concat([Buffer.from('xx'), json]).subarray(2)
  const told = translateRequest({ dialect: 'chat', protocol: 'responses', body, terms: LAX })
  t.same(told.ok && JSON.parse(Buffer.from(told.body).toString()), {
    model: 'up',
    input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: content }] }],
    store: false,
  })
  t.same(told.ok && told.dropped, ['seed'])
  t.end()
})

t.test('what the endpoint cannot answer is told by its paths', (t) => {
  const body = bytesOf({ model: 'm', messages: [{ role: 'user', content: 'a' }], stop: 'x' })
  t.match(translateRequest({ dialect: 'chat', protocol: 'responses', body, terms: LAX }), {
    ok: false,
    issues: [{ path: '/stop', message: String, expected: String }],
  })
  t.end()
})

t.test('names of members of the language are names of a caller', (t) => {
  const schema = '{"type":"object","properties":{"__proto__":{"type":"string"}}}'
  const tool = `{"type":"function","function":{"name":"f","parameters":${schema}}}`
  const json = `{"model":"m","messages":[{"role":"user","content":"a"}],"tools":[${tool}],"__proto__":{"n":2}}`
  for (const protocol of ['responses', 'messages', 'chat'] as const) {
    const told = translateRequest({ dialect: 'chat', protocol, body: Buffer.from(json), terms: LAX })
    t.ok(told.ok && Buffer.from(told.body).toString().includes(schema), protocol)
    t.same(told.ok && told.dropped, ['__proto__'])
  }
  t.end()
})
