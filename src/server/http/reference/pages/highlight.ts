import { escaped } from './html.ts'

/** Classes of highlighted text in a block, in the order in which they are tried at each position. */
type Rules = readonly (readonly [name: 'comment' | 'string' | 'number' | 'keyword', shape: RegExp])[]

const DOUBLE = String.raw`"(?:[^"\\]|\\[^])*"`
const SINGLE = String.raw`'(?:[^'\\]|\\[^])*'`
const NUMBER = /(?<![\w.])-?\d+(?:\.\d+)?\b/

const SCRIPT: Rules = [
  ['comment', /(?<!\S)\/\/.*/],
  ['string', new RegExp(`${SINGLE}|${DOUBLE}|\`[^\`]*\``)],
  [
    'keyword',
    /\b(?:const|let|import|from|await|async|for|of|if|throw|new|export|default|return|function|true|false|null)\b/,
  ],
  ['number', NUMBER],
]

const RULES: Readonly<Record<string, Rules>> = {
  // A single-quoted text of a shell ends at the next quote, even after a backslash.
  sh: [
    ['comment', /(?<!\S)#.*/],
    ['string', new RegExp(`'[^']*'|${DOUBLE}`)],
    ['keyword', /(?<![\w./-])(?:curl|export|for|in|do|done|if|then|else|fi|while)(?![\w./-])/],
  ],
  js: SCRIPT,
  ts: SCRIPT,
  python: [
    ['comment', /(?<!\S)#.*/],
    ['string', new RegExp(`\\b[fb]?(?:${SINGLE}|${DOUBLE})|${SINGLE}|${DOUBLE}`)],
    ['keyword', /\b(?:import|from|with|as|for|in|if|else|def|return|raise|True|False|None)\b/],
    ['number', NUMBER],
  ],
  json: [
    ['string', new RegExp(DOUBLE)],
    ['keyword', /\b(?:true|false|null)\b/],
    ['number', NUMBER],
  ],
}

/** The text of a block as HTML with classes; without its tags it is exactly the original text. */
export function highlighted(text: string, language: string): string {
  const rules = RULES[language]
  if (rules === undefined) return escaped(text)
  const any = new RegExp(rules.map(([name, { source }]) => `(?<${name}>${source})`).join('|'), 'g')
  let end = 0
  let html = ''
  for (const match of text.matchAll(any)) {
    const [found] = match
    const name = rules.find(([one]) => match.groups?.[one] !== undefined)?.[0] ?? ''
    html += `${escaped(text.slice(end, match.index))}<span class="${name}">${escaped(found)}</span>`
    end = match.index + found.length
  }
  return html + escaped(text.slice(end))
}

export function blockOf(text: string, language: string): string {
  return `<pre tabindex="0"><code>${highlighted(text, language)}\n</code></pre>\n`
}
