import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { Settings } from '../../src/schemas/settings.ts'
import { decisions, decisionTable } from '../support/decisions.ts'
import { readSources, ROOT, sourceFile } from '../support/source.ts'

const readme = readFileSync(`${ROOT}README.md`, 'utf8')

t.test('the README lists every setting with its default', async (t) => {
  const missing = Object.entries(Settings.properties).filter(([name, schema]) => {
    const row = readme.split('\n').find((line) => line.startsWith('|') && line.includes(`\`${name}\``))
    const byDefault: unknown = 'default' in schema ? schema.default : undefined
    return (
      row === undefined ||
      (typeof byDefault !== 'object' && byDefault !== undefined && !row.includes(`\`${String(byDefault)}\``))
    )
  })
  t.same(
    missing.map(([name]) => name),
    [],
  )
})

t.test('the README names no setting that does not exist', async (t) => {
  const named = new Set([...readme.matchAll(/`(SLUICE_[A-Z0-9_]+)/g)].map((match) => match[1] ?? ''))
  t.same(
    [...named].filter((name) => !(name in Settings.properties) && name !== 'SLUICE_CONFIG'),
    [],
  )
})

t.test('the README lists the decisions as the source has them (node tools/decisions.mjs)', async (t) => {
  t.ok(readme.includes(decisionTable(readSources('src'))))
})

t.test('no two decisions have the same name', async (t) => {
  const names = decisions(readSources('src')).map(({ name }) => name)
  t.same(names.filter((name, at) => names.indexOf(name) !== at), [])
})

t.test('only numbers are limits, whatever else stands beside them', async (t) => {
  const text =
    "/** Why. Decision. */\nconst A_MAX = 64 * KIB\nconst EMPTY = new Uint8Array(0)\nconst BUSY = fail('busy')\nconst B = 1 / 4\n"
  t.same(decisions([sourceFile('a.ts', text)]).map(({ name }) => name), ['A_MAX', 'B'])
})

t.test('a decision is found with each constant that its comment covers', async (t) => {
  const text =
    '/** Why it is so. Decision. */\nexport const A_MAX = 1\nconst B_MS = 2\n\n/** Design §1. */\nconst C = 3\n'
  t.same(decisions([sourceFile('a.ts', text)]), [
    { name: 'A_MAX', value: '1', why: 'Why it is so.' },
    { name: 'B_MS', value: '2', why: 'Why it is so.' },
  ])
})

t.test('`npm run prove` and the README each list every long run once', async (t) => {
  const runs = readSources('test/prove')
    .filter(({ text }) => text.includes('export const program: Program'))
    .map(({ path }) => path.slice('test/prove/'.length, -'.ts'.length))
  const printed = spawnSync(process.execPath, ['tools/prove.mjs'], { cwd: ROOT, encoding: 'utf8' }).stdout
  const offered = [...printed.matchAll(/^ {2}([\w-]+) /gm)].map((match) => match[1] ?? '')
  const listed = [...readme.matchAll(/one of them: (.*)/g)].flatMap((match) => (match[1] ?? '').split(' '))
  t.same(offered.sort(), runs.sort())
  t.same(listed.sort(), runs.sort())
})

t.test('what of a README no guide could show ends the build: a link that leads nowhere, a section that its contents leave out, HTML', async (t) => {
  type Guides = { guidesOf(readme: string, changelog: string): ReadonlyMap<string, string> }
  const { guidesOf } = (await import(pathToFileURL(`${ROOT}tools/guides.mjs`).href)) as Guides
  const made = (text: string, more = '') =>
    guidesOf(`# A\n\n## Contents\n\n- **All:** [B](#b) · [Log](CHANGELOG.md)\n\n## B\n\n${text}\n\n### C & \`d/e\`\n${more}`, '# Changelog\n')
  const page = made('[c](#c--de), [log](CHANGELOG.md), [reference](http://127.0.0.1:8080/docs) <!-- unseen -->').get('b') ?? ''
  t.same([...page.matchAll(/<a href="([^"]*)">(?:c|log|reference)<\/a>/g)].map(([, href]) => href), ['/docs/guides/b#c--de', '/docs/guides/changelog', '/docs'])
  t.match(page, '<h2 id="c--de">C &amp; <code>d/e</code>')
  t.notMatch(page, 'unseen')
  t.throws(() => made('[c](#d)'), /no page has #d/)
  t.throws(() => made('[c](deploy/none.yaml)'), /no page has deploy/)
  t.throws(() => made('a', '\n## F\n'), /leave out F/)
  t.throws(() => made('a <b>c</b>'), /HTML/)
})
