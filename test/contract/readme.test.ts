import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { basename } from 'node:path'
import t from 'tap'
import { Settings } from '../../src/schemas/operator/settings.ts'
import { NOT_SETTINGS } from '../../src/server/config.ts'
import { VIDEO_STATES } from '../../src/schemas/videos/video-jobs.ts'
import { DELIVERY_STATES } from '../../src/schemas/webhooks/webhook-deliveries.ts'
import { contractLimits, generatedPages, ownLimits } from '../support/limits-page.ts'
import { USER_PAGES, USER_TEXT } from '../support/pages.ts'
import { readSources, ROOT, sourceFile } from '../support/source.ts'
import { withoutBlocks } from './citation-rules.ts'

const SETTINGS_PAGE = USER_PAGES.find(({ path }) => path === 'docs/operate/settings.md')?.text ?? ''

t.test('the page on settings lists every setting with its default', async (t) => {
  const missing = Object.entries(Settings.properties).filter(([name, schema]) => {
    const row = SETTINGS_PAGE.split('\n').find((line) => line.startsWith('|') && line.includes(`\`${name}\``))
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

t.test('the pages for users name no setting that does not exist', async (t) => {
  const named = new Set([...USER_TEXT.matchAll(/`(SLUICE_[A-Z0-9_]+)/g)].map((match) => match[1] ?? ''))
  t.same(
    [...named].filter((name) => !(name in Settings.properties) && !NOT_SETTINGS.has(name)),
    [],
  )
})

t.test('the pages of limits and fields match the source (node tools/generated-pages.mjs)', async (t) => {
  for (const [path, text] of Object.entries(generatedPages(readSources('src'))))
    t.ok(readFileSync(`${ROOT}${path}`, 'utf8') === text, path)
})

t.test(
  'every limit in the files of limits has a comment that names its source, or says Decision',
  async (t) => {
    const files = readSources('src/schemas').filter(({ path }) => /(?:^|[-/])limits\.ts$/.test(path))
    const all = files.flatMap(({ text }) =>
      [...text.matchAll(/^export const ([A-Z_0-9]+) = /gm)].map(([, name = '']) => name),
    )
    const decided = ownLimits(files).map(({ name }) => name)
    const given = contractLimits(files).map(({ name }) => name)
    t.ok(all.length > 300)
    t.same(
      all.filter((name) => Number(decided.includes(name)) + Number(given.includes(name)) !== 1),
      ['KIB', 'MIB'],
    )
  },
)

t.test("no two limits of Sluice's own have the same name", async (t) => {
  const names = ownLimits(readSources('src')).map(({ name }) => name)
  t.same(
    names.filter((name, at) => names.indexOf(name) !== at),
    [],
  )
})

t.test('only numbers count as limits, whatever other constants a file has', async (t) => {
  const text =
    "/** Why. Decision. */\nconst A_MAX = 64 * KIB\nconst EMPTY = new Uint8Array(0)\nconst BUSY = fail('busy')\nconst B = 1 / 4\n"
  t.same(
    ownLimits([sourceFile('a.ts', text)]).map(({ name }) => name),
    ['A_MAX', 'B'],
  )
})

t.test('a decision is found with every constant that its comment covers', async (t) => {
  const text =
    '/** Why it is so. Decision. */\nexport const A_MAX = 1\nconst B_MS = 2\n\n/** Design §1. */\nconst C = 3\n'
  t.same(ownLimits([sourceFile('a.ts', text)]), [
    { name: 'A_MAX', value: '1', why: 'Why it is so.', path: 'a.ts' },
    { name: 'B_MS', value: '2', why: 'Why it is so.', path: 'a.ts' },
  ])
})

t.test('`npm run prove` and the page on proofs each list every long run once', async (t) => {
  const runs = readSources('test/prove')
    .filter(({ text }) => text.includes('export const program: Program'))
    .map(({ path }) => basename(path, '.ts'))
  const printed = spawnSync(process.execPath, ['tools/prove.mjs'], { cwd: ROOT, encoding: 'utf8' }).stdout
  const offered = [...printed.matchAll(/^ {2}([\w-]+) /gm)].map((match) => match[1] ?? '')
  const listed = (
    /```text\n([^`]*)\n```/.exec(readFileSync(`${ROOT}docs/inside/proofs.md`, 'utf8'))?.[1] ?? ''
  ).split(/\s+/)
  t.same(offered.sort(), runs.sort())
  t.same(listed.sort(), runs.sort())
})

/** Pages for those who change the code, less those that are made of it. */
const INSIDE = [
  ...['ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md'].filter((path) => existsSync(`${ROOT}${path}`)),
  ...readdirSync(`${ROOT}docs/inside`).map((name) => `docs/inside/${name}`),
]
  .map((path) => ({ path, text: readFileSync(`${ROOT}${path}`, 'utf8') }))
  .filter(({ text }) => !text.startsWith('<!-- Generated'))

t.test('each file that a page for developers names exists, at that path or below src/server', async (t) => {
  const missing = INSIDE.flatMap(({ path, text }) =>
    [...text.matchAll(/(?<![\w./<>-])(?:[\w-]+\/)+[\w.-]+\.(?:ts|tsx|mjs)\b/g)]
      .filter(([name]) => !['', 'src/', 'src/server/'].some((root) => existsSync(`${ROOT}${root}${name}`)))
      .map(([name]) => `${path}: ${name}`),
  )
  t.same(missing, [])
})

t.test('each folder of the code that a page for developers names exists', async (t) => {
  const isThere = (name: string): boolean =>
    ['', 'src/', 'src/server/'].some(
      (root) => existsSync(`${ROOT}${root}${name}`) || existsSync(`${ROOT}${root}${name}.ts`),
    )
  const named = INSIDE.flatMap(({ path, text }) =>
    [...text.matchAll(/`((?:[\w-]+\/)+[\w-]+)\/?`/g)].map(([, name = '']) => ({ path, name })),
  ).filter(({ name }) => isThere(name.slice(0, name.indexOf('/'))))
  t.ok(named.length > 80, `${named.length} folders`)
  t.same(
    named.filter(({ name }) => !isThere(name)),
    [],
  )
})

t.test('words that developer pages place in a file occur in it: `a.ts` (`word`)', async (t) => {
  const reported = INSIDE.flatMap(({ path, text }) => [
    ...[...text.matchAll(/`([\w/.-]+\.ts)` \(`([#\w]+)`\)/g)].map(([, file = '', word = '']) => ({
      path,
      file,
      word,
    })),
    ...[...text.matchAll(/`([#\w]+)`\s+in\s+`([\w/.-]+\.ts)`/g)].map(([, word = '', file = '']) => ({
      path,
      file,
      word,
    })),
  ])
  const textOf = (file: string): string => {
    const at = ['', 'src/', 'src/server/']
      .map((root) => `${ROOT}${root}${file}`)
      .find((one) => existsSync(one))
    return at === undefined ? '' : readFileSync(at, 'utf8')
  }
  t.ok(reported.length > 15, `${reported.length} words`)
  t.same(
    reported
      .filter(({ file, word }) => !new RegExp(`${word}\\b`).test(textOf(file)))
      .map(({ path, file, word }) => `${path}: ${word} in ${file}`),
    [],
  )
})

t.test('a page has at most 400 lines, and its prose at most 110 columns', async (t) => {
  const pages = [...INSIDE, ...USER_PAGES.map(({ path, text }) => ({ path, text: withoutBlocks(text) }))]
  const made = Object.entries(generatedPages(readSources('src'))).map(([path, text]) => ({ path, text }))
  t.same(
    [...pages, ...made].filter(({ text }) => text.split('\n').length > 401).map(({ path }) => path),
    [],
  )
  const wide = pages.flatMap(({ path, text }) =>
    text
      .split('\n')
      .flatMap((line, at) => ([...line].length > 110 && !line.startsWith('|') ? [`${path}:${at + 1}`] : [])),
  )
  t.same(wide, [])
})

t.test('a page for users begins with its purpose, has a code block, and uses plain words', async (t) => {
  const pages = USER_PAGES.filter(({ path }) => path !== 'README.md')
  t.same(
    pages
      .filter(({ text }) => !/^# [^\n]+\n\nThis page /.test(text) || !text.includes('\n```'))
      .map(({ path }) => path),
    [],
  )
  const vague = /\b(?:nobody|whoever|somebody|anybody|what is no|such ones|the ones?|likewise)\b/i
  const found = USER_PAGES.flatMap(({ path, text }) =>
    text
      .split('\n')
      .flatMap((line, at) => (vague.test(line.replace(/`[^`]*`/g, '')) ? [`${path}:${at + 1}`] : [])),
  )
  t.same(found, [])
})

t.test('the diagrams of jobs, deliveries and files show the states of the code', async (t) => {
  const page = INSIDE.find(({ path }) => path === 'docs/inside/request.md')?.text ?? ''
  const drawnIn = (title: string): string => page.slice(page.indexOf(`\n## ${title}`)).split('\n```')[1] ?? ''
  const fileStates =
    /type FileState = (.*)/.exec(readFileSync(`${ROOT}src/server/store/files/file-rows.ts`, 'utf8'))?.[1] ??
    ''
  const files = [...fileStates.matchAll(/'(\w+)'/g)].map(([, state = '']) => state)
  t.ok(files.length > 2)
  const missing = (title: string, states: readonly string[]): readonly string[] =>
    states.filter((state) => !drawnIn(title).includes(state))
  t.same(
    [
      ...missing('A video job', VIDEO_STATES),
      ...missing('A webhook delivery', DELIVERY_STATES),
      ...missing('A file', files),
    ],
    [],
  )
})

interface Guides {
  guidesOf(textOf: (path: string) => string): ReadonlyMap<string, string>
}

const GUIDES = pathToFileURL(`${ROOT}tools/guides.mjs`).href

/** Guides of a README whose contents name a page with the text, and two others. */
async function guidesWith(text: string, named = ''): Promise<ReadonlyMap<string, string>> {
  const { guidesOf } = (await import(GUIDES)) as Guides
  const files: Readonly<Record<string, string>> = {
    'README.md':
      '# A\n\n## Begin\n\n[c](docs/b.md#c--de)\n\n## Documentation\n\n' +
      `- **All:** [B](docs/b.md) · [Deep](docs/in/deep.md) · [Log](CHANGELOG.md)${named}\n\n## End\n`,
    'docs/b.md': `# B\n\n${text}\n\n## C & \`d/e\`\n`,
    'docs/in/deep.md': '<!-- made -->\n\n# Deep\n\n[up](../b.md), [own](#two), [other](other.md)\n\n## Two\n',
    'docs/deep.md': '# Deep\n',
    'CHANGELOG.md': '# Changelog\n',
  }
  return guidesOf((path) => files[path] ?? '')
}

/** Where the links of a page lead that have these texts. */
function hrefsOf(page = ''): readonly string[] {
  return [...page.matchAll(/<a href="([^"]*)">[a-z]+<\/a>/g)].map(([, href = '']) => href)
}

t.test('a dead link, or HTML, which guides cannot show, fails the build', async (t) => {
  const links =
    '[c](#c--de), [log](../CHANGELOG.md), [start](../README.md#begin), [reference](http://127.0.0.1:8080/docs)'
  const page = (await guidesWith(`${links} <!-- unseen -->`)).get('b') ?? ''
  t.same(hrefsOf(page), ['/docs/guides/b#c--de', '/docs/guides/changelog', '/docs/guides/#begin', '/docs'])
  t.match(page, '<h2 id="c--de">C &amp; <code>d/e</code>')
  t.notMatch(page, 'unseen')
  await t.rejects(guidesWith('[c](#d)'), /no page has #d/)
  await t.rejects(guidesWith('[c](../deploy/none.yaml)'), /no page has/)
  await t.rejects(guidesWith('[c](in/deep.md#three)'), /no page has/)
  await t.rejects(guidesWith('a <b>c</b>'), /HTML/)
  await t.rejects(guidesWith('a', ' · [Deep](docs/deep.md)'), /called deep/)
})

t.test('the README is the first guide, with its contents as a list', async (t) => {
  const page = (await guidesWith('a')).get('index') ?? ''
  t.same(hrefsOf(page), ['/docs/guides/b#c--de'])
  t.match(
    page,
    /<h2 id="documentation">[^]*<nav class="groups"[^]*<h3>All<\/h3>[^]*href="\/docs\/guides\/deep">Deep<[^]*<\/nav>[^]*<h2 id="end">/,
  )
})

t.test(
  'a file in the contents is a guide with working links; any other file is shown as its path',
  async (t) => {
    const pages = await guidesWith('[deep](in/deep.md#two), [inside](../CONTRIBUTING.md)')
    t.same(hrefsOf(pages.get('b')), ['/docs/guides/deep#two'])
    t.match(pages.get('b'), 'inside (<code>CONTRIBUTING.md</code>)')
    t.same(hrefsOf(pages.get('deep')), ['/docs/guides/b', '/docs/guides/deep#two'])
    t.match(pages.get('deep'), 'other (<code>docs/in/other.md</code>)')
    t.notMatch(pages.get('deep'), 'made')
  },
)
