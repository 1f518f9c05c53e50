import t from 'tap'
import { checkAside } from '../../../src/server/catalogue/check-aside.ts'
import { catalogueFile } from '../../support/models/catalogue.ts'

const check = (t: Parameters<typeof catalogueFile>[0], content: unknown) =>
  checkAside({ shippedFile: catalogueFile(t, content), extraFile: null })

t.test('a check in a thread reports the same providers or problems as a load', async (t) => {
  t.match(await check(t, { providers: [{ slug: 'p', protocol: 'local' }], models: [] }), {
    ok: true,
    providers: [{ slug: 'p' }],
  })
  t.match(await check(t, { providers: [{ slug: 'p' }] }), {
    ok: false,
    problems: [{ path: '/providers/0/protocol' }],
  })
  t.match(await check(t, 'no JSON'), { ok: false, problems: [{ path: '' }] })
})

t.test('the event loop continues during the check', async (t) => {
  // So many that the thread is long at it: a machine that stands still for a moment must not find it done in
  // its first turn.
  const models = Array.from({ length: 3_000 }, (_, nth) => ({ id: `a/${nth}`, name: `${nth}` }))
  let turns = 0
  const counting = setInterval(() => (turns += 1), 1)
  t.match(await check(t, { providers: [{ slug: 'p', protocol: 'local' }], models }), { ok: true })
  clearInterval(counting)
  t.ok(turns > 0)
})
