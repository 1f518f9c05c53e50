import t from 'tap'
import {
  carriedSignature,
  SIGNATURE_FORMATS,
  signatureOf,
} from '../../../../src/schemas/inference/forms/carried-signatures.ts'

const { messages: own, gemini } = SIGNATURE_FORMATS

t.test('a signature of the own format stands as it is, and of another one with its format', (t) => {
  t.equal(carriedSignature({ format: own, data: 'EqQB.a==' }, own), 'EqQB.a==')
  t.equal(carriedSignature({ format: gemini, data: 'CiQ.b' }, own), 'sl1.google-gemini-v1.CiQ.b')
  for (const format of [own, gemini, 'unknown'])
    for (const data of ['', 'a.b', 'ünï\u0000', '.'])
      t.same(signatureOf(carriedSignature({ format, data }, own), own), { format, data })
  t.end()
})

t.test('what only begins like a carried one is of the own format', (t) => {
  for (const data of ['sl1', 'sl1.', 'sl1..x', 'sl1.format', 'sl2.format.x', ''])
    t.same(signatureOf(data, own), { format: own, data })
  t.end()
})
