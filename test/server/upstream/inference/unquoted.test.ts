/** The parts of a request that a provider's failure may quote. D37. */
import t from 'tap'
import { QUOTED_CHARS_MIN } from '../../../../src/schemas/inference/inference-limits.ts'
import { SEARCHED_BYTES_MAX, unquoted } from '../../../../src/server/upstream/inference/unquoted.ts'

const PROMPT = 'Grüße an die 25 Canaries, die niemand im Log sehen darf'
const REQUEST = Buffer.from(JSON.stringify({ messages: [{ role: 'user', content: PROMPT }] }))
const textOf = (detail: string, request = REQUEST): string | undefined =>
  unquoted({ name: 'upstream_refused', detail }, request).detail

t.test('a quotation is removed wherever it is in the text, whatever its length', async (t) => {
  for (let length = QUOTED_CHARS_MIN; length <= PROMPT.length; length++)
    for (let begin = 0; begin < 2 * QUOTED_CHARS_MIN; begin++) {
      const before = '#'.repeat(begin)
      const reported = textOf(`${before}${PROMPT.slice(0, length)}###`)
      if (reported !== `${before}[…]###`) t.fail(`${begin}, ${length}: ${reported}`)
    }
  t.equal(textOf(`no ${PROMPT} and ${PROMPT.slice(4)}!`), 'no […] and […]!')
})

t.test('shorter quotations and other texts stay', async (t) => {
  const short = `The provider answered 400: ${PROMPT.slice(0, QUOTED_CHARS_MIN - 1)}###`
  for (const text of [short, 'The provider answered 400: The model does not take pictures.', ''])
    t.equal(textOf(text), text)
  t.same(unquoted({ name: 'upstream_failed' }, REQUEST), { name: 'upstream_failed' })
})

t.test("does not quote the provider's text for a large request", async (t) => {
  const large = Buffer.alloc(SEARCHED_BYTES_MAX + 1, 'x')
  t.equal(textOf(`The provider answered 400: ${PROMPT}`, large), 'The provider answered 400.')
  t.equal(textOf('The provider answered 400.', large), 'The provider answered 400.')
  const gone = unquoted({ name: 'upstream_refused', detail: 'The answer broke off: No.' }, null)
  t.equal(gone.detail, 'The answer broke off.')
})

t.test('a code that occurs in the request, or that cannot be compared with it, is dropped', async (t) => {
  const coded = (code: string) =>
    ({ name: 'upstream_failed', metadata: { provider_code: code, provider_name: 'P' } }) as const
  const code = 'context_length_exceeded'
  t.match(unquoted(coded(code), REQUEST), { metadata: { provider_code: code } })
  for (const [reported, request] of [
    ['Canaries', REQUEST],
    [code, null],
  ] as const)
    t.same(unquoted(coded(reported), request).metadata, { provider_name: 'P' })
})

t.test('a path that quotes the request, or that cannot be compared with it, is dropped', async (t) => {
  const blamed = (param: string) =>
    ({ name: 'upstream_refused', metadata: { provider_param: param, provider_name: 'P' } }) as const
  for (const param of ['messages', 'messages[0].content[0].image_url.url'])
    t.match(unquoted(blamed(param), REQUEST), { metadata: { provider_param: param } })
  const quoted = Buffer.from('{"metadata":{"abcdefghijklmnopqrstuvwxyz":1}}')
  const large = Buffer.alloc(SEARCHED_BYTES_MAX + 1, 'x')
  for (const request of [quoted, large, null])
    t.same(unquoted(blamed('metadata.abcdefghijklmnopqrstuvwxyz'), request).metadata, { provider_name: 'P' })
})

t.test('recognizes a quotation however the caller has escaped the quoted text', async (t) => {
  const escaped = (text: string): string =>
    text.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  const words = 'Привет,\n"мир" 😀: niemand\tsoll das im Log sehen'
  const whole = 'no […] at all'
  for (const request of [
    `{"input":"${escaped(words)}"}`,
    JSON.stringify({ input: words }),
    // Arguments of a tool, as a provider gets them that takes objects.
    JSON.stringify({ arguments: JSON.stringify({ text: words }) }),
  ])
    t.equal(textOf(`no ${words} at all`, Buffer.from(request)), whole, request)
})
