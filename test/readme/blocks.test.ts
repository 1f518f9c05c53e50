import { readFileSync } from 'node:fs'
import t from 'tap'
import { ROOT } from '../support/source.ts'
import { blocksOf } from './blocks.ts'
import { linesOf, withMistake, withoutLine } from './lines.ts'
import { sectionOf } from './slices.ts'

const readme = readFileSync(`${ROOT}README.md`, 'utf8')
const blocks = blocksOf(readme)

/** What they stand under and begin with, of blocks that are not run here: they need machines, programs or addresses that a test has not. */
const ELSEWHERE: readonly string[] = [
  'Start: npm start npm',
  'As a package: npm pack #',
  'As a container: docker build -f',
  'Two nodes: sh deploy/secrets.sh #',
  'How it is built: npm test #',
  'Bench: npm run bench',
]

t.test('the blocks of the README that are not run are these', async (t) => {
  const found = blocks.filter(({ mark }) => mark !== null)
  t.same(found.filter(({ mark }) => mark !== 'elsewhere'), [])
  t.same(found.map(({ section, text }) => `${section}: ${text.split(/\s+/, 3).join(' ')}`), ELSEWHERE)
})

t.test('no fence of the README is missed', async (t) => {
  t.equal(blocks.length * 2, readme.split('\n').filter((line) => /^\s*(?:```|~~~)/.test(line)).length)
})

t.test('links within the README lead to a heading, and its contents name each section', async (t) => {
  const headings = readme.split('\n').filter((line) => /^##+ /.test(line))
  const anchors = headings.map((line) => line.replace(/^#+ /, '').toLowerCase().replace(/[^\w\- ]/g, '').replaceAll(' ', '-'))
  const links = [...readme.matchAll(/\]\(#([^)]+)\)/g)].map((match) => match[1] ?? '')
  t.same(links.filter((link) => !anchors.includes(link)), [])
  const contents = readme.slice(readme.indexOf('## Contents'), readme.indexOf('## Start'))
  const sections = anchors.filter((anchor, at) => (headings[at] ?? '').startsWith('## ') && anchor !== 'contents')
  t.same(sections.filter((anchor) => !contents.includes(`(#${anchor})`)), [])
})

const SHOWN = blocksOf('```sh\napi=1\nget() { curl "$1"; }\n# a remark\nbin/sluice keys list\n# 200 {"data":[]}\n```\n')

t.test('a remark and an empty line are no lines that a block needs', async (t) => {
  t.same(linesOf(SHOWN).map(({ number, text }) => `${number} ${text}`), ['2 api=1', '3 get() { curl "$1"; }', '5 bin/sluice keys list', '6 # 200 {"data":[]}'])
})

t.test('a line is taken out, or has a mistake put into it', async (t) => {
  const [, , verb, answer] = linesOf(SHOWN)
  t.equal(verb && withoutLine(verb).text, 'api=1\nget() { curl "$1"; }\n# a remark\n# 200 {"data":[]}')
  t.match(verb && withMistake(verb).text, 'bin/sluice no-keys list')
  t.match(answer && withMistake(answer).text, '# 299 {"data":[]}')
})

t.test('a section is run behind the commands that set what it uses, and no others', async (t) => {
  const text = '# One\n```sh\na=1\nb=2\nget() { echo "$a"; }\necho hello\n```\n# Two\n```sh\nget it\n```\n'
  t.same(sectionOf(blocksOf(text), 'Two', null).map((block) => block.text), ['a=1\nget() { echo "$a"; }', 'get it'])
})
