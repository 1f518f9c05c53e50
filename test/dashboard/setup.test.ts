import t from 'tap'
import { skipWithoutBrowser } from '../support/wire/browser.ts'
import {
  findingsInNextLook,
  openDashboard,
  openTables,
  overflowOf,
  type Dashboard,
} from '../support/operator/dashboard.ts'
import { present } from '../support/must.ts'
import { plantGroup, plantUsers } from '../support/scim/directory.ts'

t.setTimeout(300_000)

const skip = skipWithoutBrowser
const dashboard = skip === false ? await openDashboard(t) : null
await dashboard?.signIn()
const opened = (): Dashboard => present(dashboard)
const PROMPT = 'Answer in one sentence.\nBe polite.'

async function save(slug: string, body: object): Promise<void> {
  const { call, managementKey } = opened()
  const answer = await call(`presets/${slug}/chat/completions`, managementKey, { body })
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.body}`)
}

const asked = (text: string, more: object): object => ({
  model: 'sluice/echo-1',
  messages: [{ role: 'system', content: text }],
  ...more,
})

t.test('the empty page of Presets says that there are no presets', { skip }, async (t) => {
  const { page, visit } = opened()
  await visit('Presets')
  await page.getByText('No presets in this workspace.').waitFor()
  t.same(await findingsInNextLook(page), [])
})

t.test('a preset opens with the changes of its newest version, line by line', { skip }, async (t) => {
  const { page } = opened()
  await save('support', asked(PROMPT, { temperature: 0.2, seed: 7 }))
  await save('support', asked(`${PROMPT}\n<b>Be brief.</b>`, { temperature: 0.9, top_k: 5 }))
  await page.getByRole('button', { name: 'Reload' }).click()
  await page
    .getByRole('row', { name: /support/ })
    .getByText('active')
    .click()
  const dialog = page.getByRole('dialog', { name: 'Preset support' })
  const changes = dialog.getByRole('table', { name: 'Fields that version 2 changed' })
  await changes.getByRole('row', { name: /temperature changed 0\.2 0\.9/ }).waitFor()
  await changes.getByRole('row', { name: /top_k added . 5/ }).waitFor()
  await changes.getByRole('row', { name: /seed removed 7/ }).waitFor()
  t.equal(
    await dialog.locator('.diff').innerText(),
    '  Answer in one sentence.\n  Be polite.\n+ <b>Be brief.</b>\n',
  )
  t.same(await findingsInNextLook(page), [])
  await dialog.getByLabel('Version', { exact: true }).selectOption('1')
  await dialog.getByRole('row', { name: /seed added . 7/ }).waitFor()
  t.match(page.url(), /preset=support&to=1/)
})

t.test(
  'designates an earlier version and archives a preset, each after a confirmation',
  { skip },
  async (t) => {
    const { page, call, managementKey } = opened()
    const dialog = page.getByRole('dialog', { name: 'Preset support' })
    const designated = async (): Promise<number> => {
      const { body } = await call('presets/support', managementKey)
      return (JSON.parse(body) as { data: { designated_version: { version: number } } }).data
        .designated_version.version
    }
    await dialog.getByRole('button', { name: 'Designate version 1' }).click()
    t.equal(await designated(), 2, 'nothing was done yet')
    await page
      .getByRole('dialog', { name: 'Designate version 1 of support?' })
      .getByRole('button', { name: 'Designate' })
      .click()
    await dialog.getByText('version 1, by').waitFor()
    t.equal(await designated(), 1)
    await dialog.getByRole('button', { name: 'Archive' }).click()
    await page.getByRole('button', { name: 'Archive preset' }).click()
    await dialog.getByText('This preset is archived.').waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('row', { name: /support archived/ }).waitFor()
  },
)

t.test('maps a group after a preview of the members that it adds', { skip }, async (t) => {
  const { page, visit } = opened()
  await visit('Directory')
  await page.getByText('No groups from the identity provider yet.').waitFor()
  const { store, organizationId } = await openTables(t, opened())
  const users = await plantUsers(store, organizationId, ['ann@example.com', 'ben@example.com'])
  await plantGroup(store, organizationId, 'Engineering', users)
  await page.reload()
  await page.getByRole('row', { name: /Engineering/ }).waitFor()
  await page.getByRole('button', { name: 'Map group' }).click()
  const dialog = page.getByRole('dialog', { name: 'Map group' })
  await dialog.getByText('Effect now: 2 users join with the role member.').waitFor()
  await dialog.getByLabel('Role').selectOption('admin')
  await dialog.getByText('Effect now: 2 users join with the role admin.').waitFor()
  t.same(await findingsInNextLook(page), [])
  await dialog.getByRole('button', { name: 'Map', exact: true }).click()
  await page.getByRole('table', { name: 'Group mappings, oldest first' }).getByText('Engineering').waitFor()
  await page.getByRole('row', { name: /Engineering.*admin in Default/ }).waitFor()
})

t.test('a mapping shows its members, and a preview of its removal', { skip }, async (t) => {
  const { page, call, managementKey } = opened()
  await page
    .getByRole('table', { name: 'Group mappings, oldest first' })
    .getByRole('link', { name: 'Engineering' })
    .click()
  const dialog = page.getByRole('dialog', { name: 'Engineering in Default' })
  await dialog.getByRole('row', { name: /ann@example\.com admin by the group Engineering: admin/ }).waitFor()
  await dialog.getByLabel('What if').selectOption('member')
  await dialog.getByText('Of 2 members: 2 become member.').waitFor()
  await dialog.getByLabel('What if').selectOption('end')
  await dialog.getByText('Of 2 members: 2 leave the workspace.').waitFor()
  t.same(await findingsInNextLook(page), [])
  const members = async (): Promise<number> =>
    (JSON.parse((await call('workspaces/default/members', managementKey)).body) as { data: unknown[] }).data
      .length
  t.equal(await members(), 2, 'a preview changes nothing')
  await dialog.getByRole('button', { name: 'Apply…' }).click()
  await page.getByRole('button', { name: 'Delete mapping' }).click()
  await page.getByText('No group mappings.').waitFor()
  t.equal(await members(), 0)
})

t.test('starts a sync and shows its result', { skip }, async () => {
  const { page } = opened()
  await page.getByRole('button', { name: 'Sync' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Sync' }).click()
  await page.getByText(/^Sync succeeded, \d+ groups$/).waitFor()
})

t.test('Files shows the storage of a workspace by type', { skip }, async (t) => {
  const { page, visit, node, inferenceKey } = opened()
  for (const [name, text] of [
    ['a.txt', 'a'.repeat(3_000)],
    ['b.json', '{"b":1}'],
  ] as const) {
    const form = new FormData()
    form.set('file', new Blob([text]), name)
    const answer = await fetch(`${node.ready.url}/api/v1/files`, {
      method: 'POST',
      headers: { authorization: `Bearer ${inferenceKey}` },
      body: form,
    })
    t.equal(answer.status, 200)
  }
  await visit('Files')
  await page
    .getByRole('row', { name: /Default/ })
    .getByRole('meter')
    .click()
  const dialog = page.getByRole('dialog', { name: 'Files of Default' })
  await dialog.getByRole('row', { name: /text\/plain 1 2\.93 KiB/ }).waitFor()
  await dialog.getByRole('row', { name: /application\/json 1 7 bytes/ }).waitFor()
  t.same(await findingsInNextLook(page), [])
  await page.keyboard.press('Escape')
})

t.test('a selected theme is kept in the browser, for all of its windows', { skip }, async (t) => {
  const { page, url } = opened()
  const themeOf = (one: typeof page): Promise<string | null> => one.locator('html').getAttribute('data-theme')
  await page.getByLabel('Theme').selectOption('dark')
  await page.reload()
  await page.getByLabel('Theme').waitFor()
  t.equal(await themeOf(page), 'dark')
  t.equal(await page.getByLabel('Theme').inputValue(), 'dark')
  const other = await page.context().newPage()
  await other.goto(`${new URL(url).origin}/docs/guides`)
  await other.getByLabel('Theme').waitFor()
  t.equal(await themeOf(other), 'dark')
  await other.getByLabel('Theme').selectOption('light')
  await page.locator('html[data-theme=light]').waitFor()
  t.equal(await page.getByLabel('Theme').inputValue(), 'light')
  await other.getByLabel('Theme').selectOption('auto')
  await page.locator('html[data-theme=auto]').waitFor()
  t.equal(await page.evaluate("localStorage.getItem('sluice-theme')"), null)
  await page.evaluate("localStorage.setItem('sluice-theme', 'neon')")
  await page.reload()
  await page.getByLabel('Theme').waitFor()
  t.equal(await themeOf(page), 'auto')
  await page.evaluate("localStorage.removeItem('sluice-theme')")
  await other.close()
})

for (const title of ['Presets', 'Directory'])
  t.test(`${title} is accessible, on a phone too`, { skip }, async (t) => {
    const { page, visit } = opened()
    await visit(title)
    t.same(await findingsInNextLook(page), [])
    await page.setViewportSize({ width: 380, height: 800 })
    t.equal(await overflowOf(page), 0)
    await page.setViewportSize({ width: 1_280, height: 900 })
  })

t.test('calls no other host and logs no error', { skip }, async (t) => {
  const { seen } = opened()
  t.same([seen.abroad, seen.errors], [[], []])
})
