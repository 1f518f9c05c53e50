import t from 'tap'
import { DIALECTS } from '../../../src/schemas/inference/text-request.ts'
import { bodiesOfMany, resultsOfMany } from '../../support/inference/bodies/many-parts.ts'
import { translated } from '../../support/inference/bodies/translated.ts'
import { TEXT_PROTOCOLS } from '../../../src/schemas/models/protocols.ts'

/** `prove forms-round-trip` has eight times as many. */
const MANY = 25_000
/** More than a call takes arguments. */
const ARGUMENTS = 130_000
const timeout = 20_000

for (const dialect of DIALECTS)
  t.test(`many parts of ${dialect} take time that grows with their number alone`, { timeout }, (t) => {
    for (const body of bodiesOfMany(MANY)[dialect])
      for (const protocol of TEXT_PROTOCOLS) t.same(translated([dialect, protocol], body).refused, [])
    t.end()
  })

t.test('many results for Gemini 3 take time that grows with their number alone', { timeout }, (t) => {
  for (const messages of resultsOfMany(MANY)) {
    const { refused } = translated(['chat', 'gemini'], { messages }, { upstreamModel: 'gemini-3.1-pro' })
    t.same(refused, [])
  }
  t.end()
})

t.test('the parts of one turn may be more than a call takes arguments', { timeout }, (t) => {
  const [body = {}] = bodiesOfMany(ARGUMENTS).chat
  for (const protocol of TEXT_PROTOCOLS) t.same(translated(['chat', protocol], body).refused, [])
  t.end()
})
