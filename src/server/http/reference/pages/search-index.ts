import { termsOf, type SearchIndex } from '../../docs/guides-search.ts'

/** A page that can be searched. */
export interface FoundPage {
  /** Path on a node. */
  readonly path: string
  readonly html: string
  /** Weight of the page's words: 1 for most pages. */
  readonly weight: number
}

interface Section {
  readonly page: number
  readonly id: string
  readonly title: string
  readonly words: ReadonlyMap<string, number>
  readonly length: number
}

/** Factors for a word in the heading of a section, and in the title of its page. */
const HEADING_TIMES = 5
const TITLE_TIMES = 3
/** Factor for a word in the first paragraph, which describes the purpose of the page. */
const LEAD_TIMES = 3
/** Parameters of BM25, with usual values: how soon further occurrences stop counting, and how much the length of a section reduces its score. */
const SATURATION = 1.2
const LENGTH_SHARE = 0.6
/** Factor for scores, which are stored as whole numbers. */
const SCALE = 10

/** The index of these pages: the words of each section, with their weights. */
export function searchIndexOf(pages: readonly FoundPage[]): SearchIndex {
  const titles = pages.map(({ html }) => textOf(/<h1[^>]*>([^]*?)<\/h1>/.exec(html)?.[1] ?? ''))
  const sections = pages.flatMap(({ html }, page) => sectionsOf(html, page, titles[page] ?? ''))
  const mean = sections.reduce((sum, { length }) => sum + length, 0) / Math.max(1, sections.length)
  const terms = new Map<string, number[]>()
  const lasts = new Map<string, number>()
  sections.forEach((section, at) => {
    const share = 1 - LENGTH_SHARE + (LENGTH_SHARE * section.length) / mean
    const weight = pages[section.page]?.weight ?? 1
    for (const [term, times] of section.words) {
      const score = (times * (SATURATION + 1)) / (times + SATURATION * share)
      const list = terms.get(term) ?? []
      terms.set(term, list)
      list.push(at - (lasts.get(term) ?? 0), Math.max(1, Math.round(score * weight * SCALE)))
      lasts.set(term, at)
    }
  })
  return {
    pages: pages.map(({ path }, at) => [path, titles[at] ?? '']),
    sections: sections.map(({ page, id, title }) => [page, id, title]),
    terms: Object.fromEntries([...terms].sort(([one], [other]) => (one < other ? -1 : 1))),
  }
}

/** The text before the first heading of a page, and each heading with the text after it. */
function sectionsOf(html: string, page: number, title: string): readonly Section[] {
  const main = /<main[^>]*>([^]*?)(?:<nav class="turns"|<\/main>)/.exec(html)?.[1] ?? ''
  return main.split(/(?=<h2 id=")/).map((part, at) => {
    const [, id = '', heading = ''] = /^<h2 id="([^"]*)">([^]*?)<\/h2>/.exec(part) ?? []
    const name = at === 0 ? title : textOf(heading.replace(/<a class="anchor"[^]*/, ''))
    const lead = at === 0 ? textOf(/<p>([^]*?)<\/p>/.exec(part)?.[1] ?? '') : ''
    return {
      page,
      id: at === 0 ? '' : id,
      title: name,
      ...wordsOf(textOf(part), { title, heading: `${name} ${id}`, lead }),
    }
  })
}

function wordsOf(
  text: string,
  { title, heading, lead }: Readonly<Record<'title' | 'heading' | 'lead', string>>,
): Pick<Section, 'words' | 'length'> {
  const words = new Map<string, number>()
  const add = (terms: readonly string[], times: number): void => {
    for (const term of terms) words.set(term, (words.get(term) ?? 0) + times)
  }
  const body = termsOf(text)
  add(body, 1)
  add(termsOf(heading), HEADING_TIMES)
  add(termsOf(title), TITLE_TIMES)
  add(termsOf(lead), LEAD_TIMES)
  return { words, length: body.length }
}

const ENTITIES: readonly (readonly [string, string])[] = [
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&quot;', '"'],
  ['&#39;', "'"],
  ['&amp;', '&'],
]

function textOf(html: string): string {
  return ENTITIES.reduce(
    (text, [entity, letter]) => text.replaceAll(entity, letter),
    html.replace(/<[^>]*>/g, ' '),
  )
    .replace(/\s+/g, ' ')
    .trim()
}
