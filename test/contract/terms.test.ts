import t from 'tap'
import { USER_PAGES } from '../support/pages.ts'
import { unexplainedTerms } from './term-rules.ts'

const found = (text: string): readonly string[] => unexplainedTerms({ path: 'docs/use/x.md', text })

t.test('a page for users links to the glossary where it first uses a term of the glossary', async (t) => {
  t.same(
    USER_PAGES.flatMap((page) => unexplainedTerms(page)),
    [],
  )
})

t.test('finds a term before its link, and a link to another entry', async (t) => {
  t.same(found('# Fronts\n\nA front or its [fronts](glossary.md#node-front-runner).'), [
    'docs/use/x.md:3 front',
  ])
  t.same(found('An [intern](glossary.md#form) and\nmoney lent.'), [
    'docs/use/x.md:2 lent',
    'docs/use/x.md:1 intern',
  ])
  t.same(found('See [another form](presets.md#a-form).'), ['docs/use/x.md:1 form'])
})

t.test('accepts linked terms, code, headings, link targets and other meanings of a word', async (t) => {
  t.same(found('[Fronts](../use/glossary.md#node-front-runner) serve; a front has a share.'), [])
  t.same(found('[interns\nof it](interns.md), [a form](glossary.md#form) and a form'), [])
  t.same(found('## The form\n\n`forms`\n\n```sh\nfronts\n```\n\n[x](y.md#front)'), [])
  t.same(found('A proxy in front of the front end gets an absolute-form target.'), [])
  t.same(unexplainedTerms({ path: 'docs/use/glossary.md', text: 'A form' }), [])
})
