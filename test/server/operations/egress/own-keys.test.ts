/**
 * The caller's own key never goes to a destination, in whatever form a client puts it into a header, the
 * query or the path.
 */
import t from 'tap'
import { MIB } from '../../../../src/schemas/limits/limits.ts'
import { holdsKey } from '../../../../src/server/operations/egress/own-keys.ts'
import { errorOf, openEgressFront } from '../../../support/egress/egress-front.ts'
import { INTERN_KEY, KEY, MANAGEMENT_KEY, SCIM_KEY } from '../../../support/front.ts'

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const hex = (text: string): string => Buffer.from(text).toString('hex')
const escaped = (text: string): string =>
  [...text].map((char) => `%${char.charCodeAt(0).toString(16)}`).join('')

const FORMS: Readonly<Record<string, (key: string) => string>> = {
  'as it is': (key) => `Bearer ${key}`,
  'Basic, alone': (key) => `Basic ${base64(key)}`,
  'Basic, as the user': (key) => `Basic ${base64(`${key}:`)}`,
  'Basic, as the password of a user of one letter': (key) => `Basic ${base64(`u:${key}`)}`,
  'Basic, as the password': (key) => `Basic ${base64(`api:${key}`)}`,
  'base64url within other text': (key) =>
    `token=x.${Buffer.from(`{"key":"${key}"}`).toString('base64url')}.y`,
  'percent-encoded': escaped,
  'percent-encoded twice': (key) => encodeURIComponent(escaped(key)),
  'base64, percent-encoded': (key) => escaped(base64(key)),
  'percent-encoded four times': (key) => [1, 2, 3].reduce((text) => encodeURIComponent(text), escaped(key)),
  'percent-encoded, in base64': (key) => base64(`u:${escaped(key)}`),
  'base64 of base64': (key) => base64(`x${base64(`u:${key}`)}`),
  'base64 three times': (key) => base64(base64(base64(key))),
  hexadecimal: (key) => hex(key),
  'hexadecimal in capitals': (key) => hex(key).toUpperCase(),
  'hexadecimal of base64, percent-encoded': (key) => escaped(hex(base64(key))),
  'base64 of hexadecimal': (key) => base64(`k=${hex(key)}`),
}

for (const [form, write] of Object.entries(FORMS)) {
  t.test(`a key is recognised ${form}`, async (t) => {
    for (const key of [KEY, MANAGEMENT_KEY, INTERN_KEY, SCIM_KEY]) t.ok(holdsKey(write(key)), write(key))
  })
}

t.test('does not mistake other keys or similar words for Sluice keys', async (t) => {
  for (const text of [
    'sk-proj-abc',
    `Basic ${base64('user:sk-ant-123')}`,
    'sk-sluice',
    base64('sk-sluic'),
    '%73%6b',
    '%',
    '',
  ]) {
    t.notOk(holdsKey(text), text)
  }
})

t.test(
  'egress.forward 400: a Sluice key in a header, the query or the path, and nothing is sent',
  async (t) => {
    let requests = 0
    const { ask } = await openEgressFront(t, { target: (_, res) => void (requests++, res.end()) })
    for (const [form, write] of Object.entries(FORMS)) {
      const text = write(KEY)
      t.match(
        await errorOf(await ask('/', { headers: { authorization: text } })),
        { status: 400, type: 'header_invalid' },
        form,
      )
      t.match(
        await errorOf(await ask(`/?key=${encodeURIComponent(text)}`)),
        { status: 400, type: 'query_invalid' },
        form,
      )
      t.match(
        await errorOf(await ask(`/a/${encodeURIComponent(text)}/b`)),
        { status: 400, type: 'params_invalid' },
        form,
      )
    }
    t.equal(requests, 0)
  },
)

t.test(
  'egress.forward 400: a Sluice key as a header name, or in a body whose placeholders are replaced',
  async (t) => {
    let requests = 0
    const { ask } = await openEgressFront(t, { target: (_, res) => void (requests++, res.end()) })
    const named = await errorOf(await ask('/', { headers: { [KEY]: '1' } }))
    t.match(named, { status: 400, type: 'header_invalid' })
    t.notMatch(JSON.stringify(named), KEY)
    for (const [form, write] of Object.entries(FORMS)) {
      const filled = {
        method: 'POST',
        headers: { 'x-sluice-substitute': 'body' },
        body: `{"a":"${write(KEY)}"}`,
      }
      t.match(await errorOf(await ask('/', filled)), { status: 400, type: 'body_invalid' }, form)
    }
    t.equal(requests, 0)
  },
)

/** Bytes of a text that a search with a cost of its square would not end within the time of a test. */
const LONG_BYTES = 4 * MIB

t.test(
  'a long text of any repeated piece is searched to the end, and holds a key only if it has one',
  async (t) => {
    for (const unit of [
      '%25',
      '%',
      '25',
      'c2st',
      '736b',
      'sk-sluice',
      'YzJ0',
      '%37',
      base64('sk-sluic'),
      'a',
    ]) {
      const long = unit.repeat(LONG_BYTES / unit.length)
      t.notOk(holdsKey(long), unit)
      t.ok(holdsKey(`${long} ${KEY}`), `${unit}, and a key at the end`)
    }
  },
)
