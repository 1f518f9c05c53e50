/** Searches the pages of the documentation with an index created by the build; runs in browsers and in tests. */
export interface SearchIndex {
  /** Path and title. */
  readonly pages: readonly (readonly [path: string, title: string])[]
  /** Index of the page, anchor and heading; an empty anchor means the beginning of the page. */
  readonly sections: readonly (readonly [page: number, id: string, title: string])[]
  /** For each word, pairs of numbers: the distance of a section from the previous one, and the weight of the word in it. */
  readonly terms: Readonly<Record<string, readonly number[]>>
}

export interface SearchResult {
  readonly path: string
  readonly page: string
  readonly title: string
}

/** Words that do not indicate a subject. */
const EMPTY = new Set(
  (
    'a an and are as at be by can could do does for from get give had has have how i if in into is it its make me mean my no not of on ' +
    'one or our out over set should so than that the their them there these they this to too us use using want was we what when where ' +
    'which who why will with would you your'
  ).split(' '),
)
/** Names that look like a word with an ending: `cors` does not mean `core`. */
const NAMES = new Set(['cors'])
/** Synonyms of words on the pages. */
const SAME: Readonly<Record<string, readonly string[]>> = {
  price: ['cost'],
  expensive: ['cost'],
  spend: ['cost', 'money'],
  vector: ['embed'],
  throttle: ['rate', 'limit'],
  quota: ['limit'],
  token: ['key'],
  login: ['key'],
  password: ['secret'],
  credential: ['secret', 'key'],
  failover: ['fallback'],
  retry: ['fallback'],
  sse: ['stream', 'event'],
  claude: ['anthropic', 'message'],
  gpt: ['openai'],
  llm: ['model'],
  callback: ['webhook'],
  picture: ['image'],
  film: ['video'],
}
/** Synonyms by their stems, as questions are looked up. */
const SAME_STEMS = new Map(Object.entries(SAME).map(([word, others]) => [stemOf(word), others.map(stemOf)]))
/** Weight of a synonym relative to the word in the question. */
const SAME_SHARE = 0.4
/** Weight of a word that only begins with the word in the question. */
const PREFIX_SHARE = 0.5
const PREFIX_CHARS_MIN = 3
/** Share of the score of a page's second best section that is added to the best. */
const SECOND_SHARE = 0.25

/** The words of a text in the form of the index. */
export function termsOf(text: string): readonly string[] {
  const whole = text.toLowerCase().match(/[a-z0-9]+(?:[_.][a-z0-9]+)*/g) ?? []
  return whole.flatMap((word) => {
    const parts = /[_.]/.test(word) ? word.split(/[_.]/) : []
    return [word, ...parts].filter((one) => !EMPTY.has(one) && !isAmount(one)).map(stemOf)
  })
}

/** True for a number that names no subject: it is neither a status nor a port nor a year. */
function isAmount(word: string): boolean {
  return /^[\d._]+$/.test(word) && !/^\d{3,5}$/.test(word)
}

/** The word without English endings that do not change its subject. */
function stemOf(word: string): string {
  if (NAMES.has(word) || /[_.\d]/.test(word) || word.length < 4) return word
  const single = word
    .replace(/ies$/, 'y')
    .replace(/(ss|x|ch|sh)es$/, '$1')
    .replace(/([^su])s$/, '$1')
  const bare = single.replace(/(?:ing|ed)$/, '')
  // If the rest is too short, the ending belongs to the word: `embed`, `string`.
  if (bare === single || bare.length < 4 || !/[aeiouy]/.test(bare)) return single.replace(/e$/, '')
  return bare.replace(/([bdgmnprt])\1$/, '$1').replace(/e$/, '')
}

/** The pages that answer a question, each by its best section, the best first. */
export function search(index: SearchIndex, question: string, limit = 10): readonly SearchResult[] {
  const asked = [...new Set(termsOf(question))]
  const scores = new Map<number, number>()
  const matched = new Map<number, number>()
  for (const term of asked) {
    for (const [section, score] of scoresOf(index, term)) {
      scores.set(section, (scores.get(section) ?? 0) + score)
      matched.set(section, (matched.get(section) ?? 0) + 1)
    }
  }
  // A section with all words is a better answer than one with a single word many times.
  const ranked = [...scores]
    .map(([section, score]) => ({ section, score: score * ((matched.get(section) ?? 0) / asked.length) }))
    .sort((one, other) => other.score - one.score)
  return bestPages(index, ranked).slice(0, limit)
}

interface Ranked {
  readonly section: number
  readonly score: number
}

function bestPages(index: SearchIndex, ranked: readonly Ranked[]): readonly SearchResult[] {
  const pages = new Map<number, { best: Ranked; score: number; count: number }>()
  for (const one of ranked) {
    const page = index.sections[one.section]?.[0] ?? 0
    const known = pages.get(page)
    if (known === undefined) pages.set(page, { best: one, score: one.score, count: 1 })
    else if (known.count === 1)
      pages.set(page, { ...known, score: known.score + one.score * SECOND_SHARE, count: 2 })
  }
  return [...pages.values()]
    .sort((one, other) => other.score - one.score)
    .flatMap(({ best }) => {
      const [page = 0, id = '', title = ''] = index.sections[best.section] ?? []
      const [path = '', name = ''] = index.pages[page] ?? []
      return [{ path: id === '' ? path : `${path}#${id}`, page: name, title }]
    })
}

/** Scores of sections for one word of the question; a rare word counts more. */
function scoresOf(index: SearchIndex, term: string): ReadonlyMap<number, number> {
  const scores = new Map<number, number>()
  const add = (word: string, share: number): void => {
    const list = Object.hasOwn(index.terms, word) ? (index.terms[word] ?? []) : []
    const rarity = Math.log(1 + index.sections.length / (1 + list.length / 2))
    let section = 0
    for (let at = 0; at < list.length; at += 2) {
      section += list[at] ?? 0
      const score = (list[at + 1] ?? 0) * rarity * share
      if (score > (scores.get(section) ?? 0)) scores.set(section, score)
    }
  }
  add(term, 1)
  for (const other of SAME_STEMS.get(term) ?? []) add(other, SAME_SHARE)
  // The last word may be incomplete, and some names are longer than the words that people type.
  if (scores.size === 0 && term.length >= PREFIX_CHARS_MIN)
    for (const word of Object.keys(index.terms)) if (word.startsWith(term)) add(word, PREFIX_SHARE)
  return scores
}
