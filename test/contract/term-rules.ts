/** Finds pages that use a term of the glossary before they link to its entry. */
import type { Page } from '../support/pages.ts'
import { withoutBlocks } from './citation-rules.ts'

const GLOSSARY = 'docs/use/glossary.md'

interface Term {
  readonly name: string
  /** The term in prose. Other senses of the word ("in front of", "front end", "absolute-form") are left out. */
  readonly use: RegExp
  /** Where a link leads that explains it. */
  readonly entry: RegExp
}

const TERMS: readonly Term[] = [
  { name: 'form', use: /(?<!-)\bforms?\b/i, entry: /\bglossary\.md#form$/ },
  {
    name: 'front',
    use: /(?<!\bin\s+)\bfronts?\b(?![\s-]end\b)/i,
    entry: /\bglossary\.md#node-front-runner$/,
  },
  { name: 'lent', use: /\b(?:lent|lends?)\b/i, entry: /\bglossary\.md#lent-held-spent-forfeited$/ },
  { name: 'intern', use: /\binterns?\b/i, entry: /\b(?:glossary\.md#intern|interns\.md)$/ },
]

/** Terms whose first use on a page is not the text of a link to their entry, one line each. */
export function unexplainedTerms({ path, text }: Page): readonly string[] {
  if (path === GLOSSARY) return []
  const linked = withoutBlocks(text).replace(/^#.*$|`[^`\n]*`/gm, blanked)
  const links = [...linked.matchAll(/\[[^\][]*\]\(([^)\s]+)\)/g)]
  const prose = linked.replace(/\]\([^)\s]+\)/g, blanked)
  return TERMS.flatMap(({ name, use, entry }) => {
    const at = prose.search(use)
    if (at === -1) return []
    const link = links.find(({ index, 0: whole }) => index <= at && at < index + whole.length)
    if (entry.test(link?.[1] ?? '')) return []
    return [`${path}:${prose.slice(0, at).split('\n').length} ${name}`]
  })
}

/** Spaces in place of a text, so that what follows keeps its place. */
function blanked(text: string): string {
  return ' '.repeat(text.length)
}
