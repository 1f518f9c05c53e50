import fc from 'fast-check'
import t from 'tap'
import {
  carriedBy,
  carrierOf,
  MESSAGES_FORMAT,
  RESPONSES_FORMAT,
  UNKNOWN_FORMAT,
  type SignatureUse,
} from '../../../../src/schemas/inference/forms/signature-carriers.ts'

const USES: readonly SignatureUse[] = ['reasoning', 'redacted', 'call']

t.test('a signature comes out of its carrier as it went in, whatever its bytes', async (t) => {
  const formats = [MESSAGES_FORMAT, RESPONSES_FORMAT, 'google-gemini-v1', UNKNOWN_FORMAT]
  fc.assert(
    fc.property(
      fc.constantFrom(...formats),
      fc.oneof(fc.base64String(), fc.string({ unit: 'binary' }), fc.constant('a.b+c\n.d')),
      fc.constantFrom(...USES),
      fc.constantFrom(...USES),
      (format, data, of, placeOf) => {
        fc.pre(!data.startsWith('sl1.'))
        const carried = { signature: { format, data }, of }
        const text = carrierOf(carried, MESSAGES_FORMAT, placeOf)
        t.same(carriedBy(text, MESSAGES_FORMAT, placeOf), carried)
      },
    ),
  )
})

t.test('a signature of its own place is its bytes; another says whose it is', async (t) => {
  const signature = { format: MESSAGES_FORMAT, data: 'EqAB/+=' }
  const google = { format: 'google-gemini-v1', data: 'x.y' }
  t.equal(carrierOf({ signature, of: 'reasoning' }, MESSAGES_FORMAT), 'EqAB/+=')
  t.equal(carrierOf({ signature, of: 'redacted' }, MESSAGES_FORMAT, 'redacted'), 'EqAB/+=')
  t.equal(carrierOf({ signature, of: 'reasoning' }, RESPONSES_FORMAT), 'sl1.anthropic-claude-v1.EqAB/+=')
  t.equal(
    carrierOf({ signature, of: 'redacted' }, RESPONSES_FORMAT),
    'sl1.anthropic-claude-v1+redacted.EqAB/+=',
  )
  t.equal(carrierOf({ signature: google, of: 'call' }, MESSAGES_FORMAT), 'sl1.google-gemini-v1+call.x.y')
})

t.test('a format that would break its carrier is unknown', async (t) => {
  for (const format of ['a.b', '', 'a+call', 'x'.repeat(65), 'é']) {
    const text = carrierOf({ signature: { format, data: 'd' }, of: 'reasoning' }, MESSAGES_FORMAT)
    t.equal(text, 'sl1.unknown.d')
  }
})

t.test('what only resembles a carrier is a signature of the dialect', async (t) => {
  for (const text of ['', 'sl1', 'sl1.', 'sl1.x', 'sl2.x.y', 'sl1.x+tool.y', ' sl1.x.y'])
    t.same(carriedBy(text, MESSAGES_FORMAT), {
      signature: { format: MESSAGES_FORMAT, data: text },
      of: 'reasoning',
    })
})
