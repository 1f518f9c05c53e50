/** C39: a refused credential gets the sentence that cures it, by its form alone. */
import t from 'tap'
import { missingKeyHint, NO_CREDENTIALS, unknownKeyHint } from '../../../src/schemas/keys/credential-hints.ts'

const RANDOM = 'a'.repeat(43)

t.test('401 key_unknown: the remedy depends on the form of the key, and repeats no part of it', async (t) => {
  const cases: readonly (readonly [key: string, cure: RegExp])[] = [
    [`sk-proj-${'Zq'.repeat(30)}`, /looks like a key of OpenAI: Sluice keys begin with `sk-sluice-v1-`/],
    [`sk-${'Zq'.repeat(24)}`, /a key of OpenAI/],
    [`sk-ant-api03-${'Zq'.repeat(30)}`, /a key of Anthropic/],
    [`sk-or-v1-${'Zq'.repeat(30)}`, /a key of OpenRouter/],
    [`AIza${'Zq'.repeat(17)}`, /a key of Google.*environment of the node or in the vault/],
    [`sk-sluice-v1-${RANDOM}Z`, /^The key is one character too long: a key has exactly 43 characters/],
    [`sk-sluice-mgmt-v1-${RANDOM}ZqZq`, /4 characters too long.*after `sk-sluice-mgmt-v1-`/],
    ['sk-sluice-v1-ZqZq', /39 characters too short.*part of it is missing/],
    [`sk-sluice-v1-${'Z!'.repeat(21)}a`, /an invalid character/],
    [`sk-sluice-v2-${RANDOM}`, /The beginning of the key is wrong/],
    [`"sk-sluice-v1-${RANDOM}"`, /quotation marks/],
    [`Bearer sk-sluice-v1-${RANDOM}`, /`Bearer` twice/],
    ['undefined', /placeholder/],
    ['$SLUICE_API_KEY', /placeholder/],
    ['ZqZqZq', /does not have the form of a Sluice key/],
  ]
  for (const [key, cure] of cases) {
    const hint = unknownKeyHint(`Bearer ${key}`) ?? ''
    t.match(hint, cure, key)
    t.notMatch(hint, /Zq|aaaa|SLUICE_API/, key)
  }
  t.equal(unknownKeyHint(`Bearer sk-sluice-v1-${RANDOM}`), null, 'only the store knows whether it exists')
})

t.test('401 credentials_missing: recognizes a key in another header or without its scheme', async (t) => {
  const hint = (sent: object, header?: 'x-sluice-key') =>
    missingKeyHint({ ...NO_CREDENTIALS, ...sent }, header)
  t.equal(hint({}), null)
  t.match(hint({ authorization: `sk-sluice-v1-${RANDOM}` }), /lacks the word `Bearer` and a space/)
  t.match(hint({ authorization: 'Basic eDp5' }), /has the scheme `Basic` instead of `Bearer`/)
  t.match(hint({ authorization: 'Bearer ' }), /no key after `Bearer`/)
  t.match(
    hint({ anthropicKey: 'x' }),
    /came in `x-api-key`, which Sluice reads only with `anthropic-version`/,
  )
  t.match(hint({ azureKey: 'x' }), /came in `api-key`/)
  t.match(hint({ sluiceKey: 'x' }), /came in `x-sluice-key`/)
  t.match(
    hint({ authorization: `Bearer sk-sluice-v1-${RANDOM}` }, 'x-sluice-key'),
    /forwards to the destination/,
  )
  t.equal(hint({ authorization: 'Bearer other' }, 'x-sluice-key'), null)
})
