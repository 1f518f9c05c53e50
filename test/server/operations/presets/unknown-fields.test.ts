/** Fields of a saved request that its form does not know. C25. */
import t from 'tap'
import { openInternsFront } from '../../../support/workspaces/interns-front.ts'

const { call } = await openInternsFront(t)
const IGNORED = 'x-sluice-ignored'
const FORMS = {
  responses: { input: 'x' },
  'chat/completions': { messages: [{ role: 'user', content: 'x' }] },
  messages: { messages: [], max_tokens: 9 },
}

t.test('reports unknown fields of a saved preset, but not fields for a single request', async (t) => {
  for (const [form, needs] of Object.entries(FORMS)) {
    const body = { model: 'acme/text', ...needs, user: 'u', stream: true }
    const path = `/presets/${form.replace('/', '.')}/${form}`
    const slip = await call('POST', path, { body: { ...body, temprature: 0, 'a,b\r\n': 1 } })
    t.same([slip.status, slip.headers.get(IGNORED)], [200, 'a_b__,temprature'], form)
    const plain = await call('POST', path, { body })
    t.same([plain.status, plain.headers.get(IGNORED)], [200, null], form)
  }
})
