import t from 'tap'
import { reasonOf } from '../../../../src/server/upstream/videos/job-errors.ts'
import { orderOf } from '../../../support/videos/video-stand.ts'

const REDACTED = { credential: 'sk-secret-0123456789', host: 'video.example' }
const escaped = (text: string): string =>
  [...text].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')

t.test("strikes the prompt out of a provider's text, however it was escaped", (t) => {
  const prompt = 'A "quiet" fox / café'
  const order = orderOf(prompt)
  for (const quoted of [
    JSON.stringify(prompt).slice(1, -1),
    escaped(prompt),
    prompt.replaceAll('"', '\\"').replaceAll('/', '\\/'),
  ]) {
    const body = Buffer.from(`{"error":{"message":"refused: ${quoted}."}}`)
    t.equal(reasonOf(body, { redacted: REDACTED, order }), 'refused: […].', quoted)
  }
  t.equal(reasonOf(Buffer.from(`<html>${prompt}`), { redacted: REDACTED, order }), null)
  t.end()
})

t.test('an error nested too deep to be written gives no reason, and does not crash', async (t) => {
  const error = JSON.parse(`{"message":"no","a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`) as unknown
  t.equal(reasonOf({ error }, { redacted: REDACTED, order: orderOf('a fox') }), null)
})
