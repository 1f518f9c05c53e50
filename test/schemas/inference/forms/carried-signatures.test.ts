import fc from 'fast-check'
import t from 'tap'
import {
  carriedSignature,
  SIGNATURE_FORMATS,
  signatureOf,
  UNKNOWN_FORMAT,
  type SignatureUse,
} from '../../../../src/schemas/inference/forms/carried-signatures.ts'

const USES: readonly SignatureUse[] = ['reasoning', 'redacted', 'call']
const { messages: CLAUDE, responses: OPENAI, gemini: GEMINI } = SIGNATURE_FORMATS
const THINKING = { format: CLAUDE }

t.test('a signature comes out of its member as it went in, whatever its bytes', async (t) => {
  fc.assert(
    fc.property(
      fc.constantFrom(CLAUDE, OPENAI, GEMINI, UNKNOWN_FORMAT),
      fc.oneof(fc.base64String(), fc.string({ unit: 'binary' }), fc.constant('a.b+c\n.d')),
      fc.constantFrom(...USES),
      fc.constantFrom(...USES),
      (format, data, of, placeOf) => {
        fc.pre(!data.startsWith('sl1.'))
        const place = { format: CLAUDE, of: placeOf }
        const carried = { signature: { format, data }, of }
        t.same(signatureOf(carriedSignature(carried, place), place), carried)
      },
    ),
  )
})

t.test('a signature in its own place is its bytes; another says whose it is', async (t) => {
  const signature = { format: CLAUDE, data: 'EqAB/+=' }
  const google = { format: GEMINI, data: 'x.y' }
  const redacted = { format: CLAUDE, of: 'redacted' } as const
  t.equal(carriedSignature({ signature, of: 'reasoning' }, THINKING), 'EqAB/+=')
  t.equal(carriedSignature({ signature, of: 'redacted' }, redacted), 'EqAB/+=')
  t.equal(
    carriedSignature({ signature, of: 'reasoning' }, { format: OPENAI }),
    'sl1.anthropic-claude-v1.EqAB/+=',
  )
  t.equal(
    carriedSignature({ signature, of: 'redacted' }, { format: OPENAI }),
    'sl1.anthropic-claude-v1+redacted.EqAB/+=',
  )
  t.equal(carriedSignature({ signature: google, of: 'call' }, THINKING), 'sl1.google-gemini-v1+call.x.y')
})

t.test('a format that would break its carrier is unknown', async (t) => {
  for (const format of ['a.b', '', 'a+call', 'x'.repeat(65), 'é']) {
    const text = carriedSignature({ signature: { format, data: 'd' }, of: 'reasoning' }, THINKING)
    t.equal(text, 'sl1.unknown.d')
  }
})

t.test('what only resembles a carrier is a signature of the member', async (t) => {
  for (const text of ['', 'sl1', 'sl1.', 'sl1.x', 'sl2.x.y', 'sl1.x+tool.y', ' sl1.x.y'])
    t.same(signatureOf(text, THINKING), { signature: { format: CLAUDE, data: text }, of: 'reasoning' })
})
