import fc from 'fast-check'
import t from 'tap'
import {
  carriedSignature,
  returnedSignature,
  SIGNATURE_FORMATS,
  signatureOf,
  UNKNOWN_FORMAT,
  UNSIGNED,
  type SignatureUse,
  isForeign,
} from '../../../src/dialects/prompt/signatures.ts'

const USES: readonly SignatureUse[] = ['reasoning', 'redacted', 'call']
const { messages: CLAUDE, responses: OPENAI, gemini: GEMINI } = SIGNATURE_FORMATS
const THINKING = { format: CLAUDE }

t.test('a signature reads back from its member as it was written, whatever its bytes', async (t) => {
  fc.assert(
    fc.property(
      fc.constantFrom(CLAUDE, OPENAI, GEMINI, UNKNOWN_FORMAT),
      fc.oneof(
        fc.base64String(),
        fc.string({ unit: 'binary' }),
        fc.constantFrom('a.b+c\n.d', 'sl1.', 'sl1.x.y', 'sl1.x+call.y'),
      ),
      fc.constantFrom(...USES),
      fc.constantFrom(...USES),
      (format, data, of, placeOf) => {
        fc.pre(data !== '')
        const place = { format: CLAUDE, of: placeOf }
        const carried = { signature: { format, data }, of }
        t.same(signatureOf(carriedSignature(carried, place), place), carried)
      },
    ),
  )
})

t.test('a signature is plain bytes in its own member, and names its format in any other', async (t) => {
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

t.test(
  'a provider gets its own bytes back, and a caller gets a carrier for data that look like a carrier',
  async (t) => {
    const signature = { format: CLAUDE, data: 'sl1.google-gemini-v1+call.G' }
    const carried = { signature, of: 'reasoning' } as const
    t.equal(returnedSignature(carried, THINKING), signature.data)
    t.equal(carriedSignature(carried, THINKING), `sl1.${CLAUDE}.${signature.data}`)
    const google = { signature: { format: GEMINI, data: 'G' }, of: 'call' } as const
    t.equal(returnedSignature(google, THINKING), carriedSignature(google, THINKING))
  },
)

t.test('a format name that would break its carrier is written as unknown', async (t) => {
  for (const format of ['a.b', '', 'a+call', 'x'.repeat(65), 'é']) {
    const text = carriedSignature({ signature: { format, data: 'd' }, of: 'reasoning' }, THINKING)
    t.equal(text, 'sl1.unknown.d')
  }
})

t.test('unsigned reasoning has no signature in requests, and a mark instead of one in answers', async (t) => {
  for (const text of ['', UNSIGNED]) t.equal(signatureOf(text, THINKING), null)
  t.equal(isForeign({ type: 'thinking', thinking: 'a', signature: UNSIGNED }), true)
})

t.test('a text that only resembles a carrier is read as a plain signature', async (t) => {
  for (const text of ['sl1', 'sl1.', 'sl1.x', 'sl2.x.y', 'sl1.x+tool.y', ' sl1.x.y'])
    t.same(signatureOf(text, THINKING), { signature: { format: CLAUDE, data: text }, of: 'reasoning' })
})
