import { existsSync, readFileSync, readdirSync } from 'node:fs'
import t from 'tap'
import { ROOT, sourceFile } from '../support/source.ts'
import { anchorsOf, citationsOf, citationsOnPage, MAY_CITE, unresolved, type Page } from './citation-rules.ts'
import { deadLinks, linksOf } from './link-rules.ts'

/** It plants citations that lead nowhere. */
const THIS = 'test/contract/citations.test.ts'
const files = (folder: string, ext: RegExp): readonly string[] =>
  readdirSync(`${ROOT}${folder}`, { recursive: true, encoding: 'utf8' })
    .map((name) => (folder === '' ? name : `${folder}/${name}`))
    .filter((path) => ext.test(path) && !path.includes('node_modules/'))
    .sort()

const read = (path: string): Page => ({ path, text: readFileSync(`${ROOT}${path}`, 'utf8') })

const pages = [...readdirSync(ROOT).filter((name) => name.endsWith('.md')), ...files('docs', /\.md$/)].map(
  read,
)
/** Only files that may hold a citation are read as tokens. */
const sources = ['src', 'test', 'bench', 'tools']
  .flatMap((folder) => files(folder, /\.(?:ts|tsx|mjs)$/))
  .filter((path) => path !== THIS)
  .map(read)
  .filter(({ text }) => MAY_CITE.test(text))
  .map(({ path, text }) => sourceFile(path, text))
const citations = [...sources.flatMap(citationsOf), ...pages.flatMap(citationsOnPage)]
const anchors = anchorsOf(pages)

t.test('each citation has an anchor', async (t) => {
  t.ok(citations.length > 500, `${citations.length} citations`)
  t.same(unresolved(citations, anchors), [])
  t.same(anchors.findings, [])
})

t.test('each link of the documentation has a target', async (t) => {
  t.same(deadLinks({ pages, exists: (path) => existsSync(`${ROOT}${path}`) }), [])
})

const PLANTED: readonly Page[] = [
  {
    path: 'docs/inside/contract.md',
    text: '# A\n<a id="c2"></a>C2\n<a id="c3"></a>C3\n<a id="s4-3"></a>§4.3 and C2\n<a id="b2-4"></a>',
  },
  { path: 'docs/inside/design.md', text: '<a id="design-6-4"></a>' },
]

const unresolvedIn = (text: string): readonly string[] =>
  unresolved(citationsOf(sourceFile('src/a.ts', text)), anchorsOf(PLANTED))

t.test('a citation without an anchor is found, in each kind of comment', async (t) => {
  const planted = [
    '/** Refused. C24. */',
    '// As §4.9 has it.',
    '/**\n * Source: §4.3,\n * §4.4. */',
    '/** B2.5 */',
    '// Design §6.5.',
    '// design §6.4 and §9',
    '// Style §2.',
    '/** Facts §8. */',
    '// toolchain §4.1',
    '/** C2–C4 */',
    "const source = '§4.3, §7 embeddings'",
    "t.test('the sizes are those of C10', f)",
    '// see RFC 9110\n// as §1 says',
    '// Source: issue 9.',
    "const text = 'It holds (Issue 9, see there)'",
    '// Acceptance line 4: it holds.',
  ]
  t.same(
    planted.filter((text) => unresolvedIn(text).length !== 1),
    [],
  )
})

t.test('accepts citations with an anchor, and sections of standards', async (t) => {
  const planted = [
    '/** Source: §4.3, C2, C3, B2.4: design §6.4. */',
    '// RFC 9110 §8.6, §9.2 and §3',
    '/* RFC\n * 7644 §3.5.2 */',
    '// ISO/IEC 14496-12 §4.2',
    '/** C2–C3 */',
    "const id = 'C24'",
    'const C24 = B9',
    "const cell = 'B2:C3'",
    '// RFC 9110\n// §8.6',
    '// at most 20 issues of 3',
  ]
  t.same(planted.flatMap(unresolvedIn), [])
})

t.test('gives the line of a citation', async (t) => {
  t.same(unresolvedIn('\n/**\n * One.\n * Two: C9. */'), ['src/a.ts:4 C9 has no anchor c9'])
})

t.test('an anchor that is defined twice is found', async (t) => {
  t.same(
    anchorsOf([...PLANTED, { path: 'docs/inside/contract-more.md', text: '<a id="c2"></a>' }]).findings,
    ['docs/inside/contract-more.md#c2 stands in docs/inside/contract.md too'],
  )
})

t.test('a dead link is found: file, anchor and image', async (t) => {
  const page = (path: string, text: string): Page => ({ path, text })
  const planted = [
    page(
      'docs/use/a.md',
      '# A\n[x](b.md) [x](b.md#two-words) [x](#a) [y](#none) ![p](../p.svg)\n<img src="q.svg">\n[z](../../out.md)',
    ),
    page(
      'docs/use/b.md',
      '## Two `words`!\n```\n[x](gone.md)\n```\n`[x](gone.md)` [h](https://a.example) [d](/docs) [x](gone.md) [x](a.md#A)',
    ),
  ]
  const there = new Set(['docs/use/a.md', 'docs/use/b.md', 'docs/p.svg'])
  t.same(deadLinks({ pages: planted, exists: (path) => there.has(path) }), [
    'docs/use/a.md:2 #none: docs/use/a.md has no none',
    'docs/use/a.md:4 ../../out.md: there is no out.md',
    'docs/use/a.md:3 q.svg: there is no docs/use/q.svg',
    'docs/use/b.md:5 gone.md: there is no docs/use/gone.md',
    'docs/use/b.md:5 a.md#A: docs/use/a.md has no A',
  ])
})

t.test('links are found in prose, and not in code', async (t) => {
  t.same(
    linksOf('[a](b.md "title") `[c](d.md)`\n\n[e]: f.md').map(({ target }) => target),
    ['b.md', 'f.md'],
  )
})
