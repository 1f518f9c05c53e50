import t from 'tap'
import { checkAside } from '../../../src/server/catalogue/check-aside.ts'
import { catalogueFile } from '../../support/catalogue.ts'

const check = (t: Parameters<typeof catalogueFile>[0], content: unknown) => checkAside({ shippedFile: catalogueFile(t, content), extraFile: null })

t.test('a catalogue that is checked aside is told as one that is loaded: its providers, or what is wrong', async (t) => {
  t.match(await check(t, { providers: [{ slug: 'p', protocol: 'local' }], models: [] }), { ok: true, providers: [{ slug: 'p' }] })
  t.match(await check(t, { providers: [{ slug: 'p' }] }), { ok: false, problems: [{ path: '/providers/0/protocol' }] })
  t.match(await check(t, 'no JSON'), { ok: false, problems: [{ path: '' }] })
})

t.test('the loop goes on meanwhile', async (t) => {
  let turns = 0
  const counting = setInterval(() => (turns += 1), 1)
  await check(t, { providers: [{ slug: 'p', protocol: 'local' }] })
  clearInterval(counting)
  t.ok(turns > 0)
})
