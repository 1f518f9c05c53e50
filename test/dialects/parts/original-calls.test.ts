/** Calls of functions that stand for other tools, given back as calls of those. D6. */
import fc from 'fast-check'
import t from 'tap'
import type { NamedOrigin } from '../../../src/dialects/prompt/prompt.ts'
import { OriginalCalls } from '../../../src/dialects/original-calls.ts'
import { orNull } from '../../support/must.ts'
import type { WrittenPart } from '../../../src/dialects/parts.ts'
import { wholeParts } from '../../../src/dialects/translate.ts'

const ORIGINS: readonly NamedOrigin[] = [
  { called: 'patch', origin: { name: 'patch', namespace: null, isFreeform: true } },
  { called: 'crm__get', origin: { name: 'get', namespace: 'crm', isFreeform: false } },
]
const called = (name: string): WrittenPart => ({ kind: 'tool', choice: 0, id: 'c', name })
const fragment = (text: string): WrittenPart => ({ kind: 'arguments', choice: 0, text })

/** What the fragments of the arguments of a freeform tool say. */
function statedBy(...fragments: readonly string[]): string {
  const calls = new OriginalCalls(ORIGINS)
  const parts = calls.of([called('patch'), ...fragments.map(fragment)])
  return parts.map((part) => (part.kind === 'arguments' ? part.text : '')).join('')
}

t.test('the text of a freeform tool is unwrapped, however its arguments are split', (t) => {
  const texts = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constantFrom('\ud83d', '"\\\n\u2028'))
  const spaces = fc.constantFrom('', ' ', '\n\t')
  const escaped = (text: string): string =>
    Array.from(
      { length: text.length },
      (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join('')
  fc.assert(
    fc.property(texts, spaces, fc.boolean(), (text, space, isEscaped) => {
      const value = isEscaped ? `"${escaped(text)}"` : JSON.stringify(text)
      const json = `${space}{${space}"input"${space}:${space}${value}${space}}${space}`
      t.equal(statedBy(json), text)
      t.equal(statedBy(...json.split('')), text)
      for (let at = 0; at <= json.length; at++)
        if (statedBy(json.slice(0, at), json.slice(at)) !== text) t.fail(`cut at ${at}: ${json}`)
    }),
  )
  t.end()
})

t.test('arguments of another form are passed on, and arguments without the member give no text', (t) => {
  for (const json of ['{"patch":"x"}', '{"input":1}', 'text', '["input"]', '{"inputs":"x"}', '{"a":"}"}'])
    for (const pieces of [[json], json.split('')]) t.equal(statedBy(...pieces), json)
  for (const json of ['{}', ' { } ', '', ' ', '{"inp']) t.equal(statedBy(...json.split('')), '')
  t.equal(statedBy('{"input":"a","other":"b"}'), 'a')
  t.equal(statedBy('{"input":"a\\n', 'b'), 'a\nb')
  t.equal(statedBy('{"input":"a\\u00'), 'a')
  t.equal(statedBy('{"input":"\\uzzzz\\/"}'), '\\uzzzz/')
  t.end()
})

t.test('calls have the names of the declared tools, and calls of other tools keep their name', (t) => {
  const parts = [called('crm__get'), fragment('{"input":"x"}'), called('other'), fragment('{}')]
  t.same(new OriginalCalls(ORIGINS).of(parts), [
    { ...called('get'), namespace: 'crm' },
    fragment('{"input":"x"}'),
    called('other'),
    fragment('{}'),
  ])
  t.same(new OriginalCalls(ORIGINS).of([called('patch'), fragment('{"in')]), [
    { ...called('patch'), isFreeform: true },
  ])
  t.end()
})

t.test('calls in a whole answer have the names of the declared tools too', (t) => {
  const content = [{ type: 'tool_use', id: 'c', name: 'patch', input: { input: 'x' } }]
  const answer = Buffer.from(JSON.stringify({ type: 'message', content, stop_reason: 'tool_use' }))
  const read = orNull(
    wholeParts({ protocol: 'messages', answer, signatureFormat: 'x', tier: null, origins: ORIGINS }),
  )
  t.match(read?.parts, [{ name: 'patch', isFreeform: true }, { kind: 'arguments', text: 'x' }, {}])
  t.end()
})
