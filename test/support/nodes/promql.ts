/**
 * Reads queries of Prometheus as far as names of metrics and labels go; a word that it does not know is an
 * error.
 */
export interface ReadQuery {
  readonly metrics: readonly { readonly name: string; readonly labels: readonly string[] }[]
  readonly matchers: readonly { readonly label: string; readonly value: string }[]
  /** Labels that aggregations keep, those of all of them; null without an aggregation. */
  readonly by: readonly string[] | null
}

const TOKEN =
  /\s+|"(?:[^"\\]|\\.)*"|[A-Za-z_:][\w:]*|\$\w+|\d+(?:\.\d+)?[smhd]?|=~|!~|!=|==|>=|<=|[{}()[\],=<>*/+-]/gy
const WORDS = new Set([
  'sum',
  'min',
  'max',
  'avg',
  'count',
  'topk',
  'rate',
  'increase',
  'delta',
  'abs',
  'time',
  'histogram_quantile',
  'and',
  'or',
  'unless',
  'offset',
])

export function readQuery(text: string): ReadQuery {
  const tokens = tokensOf(text)
  const metrics: { name: string; labels: string[] }[] = []
  const matchers: { label: string; value: string }[] = []
  const kept: string[] = []
  let isAggregated = false
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at] ?? ''
    if (token === 'by') {
      isAggregated = true
      kept.push(...until(tokens, at + 2, ')').filter((word) => word !== ','))
      at += until(tokens, at + 2, ')').length + 2
    } else if (token === '{') {
      const inside = until(tokens, at + 1, '}')
      const labels = inside.filter(
        (_, nth) => inside[nth + 1] !== undefined && /^[=!]/.test(inside[nth + 1] ?? ''),
      )
      metrics.at(-1)?.labels.push(...labels)
      for (const label of labels)
        matchers.push({ label, value: (inside[inside.indexOf(label) + 2] ?? '').slice(1, -1) })
      at += inside.length + 1
    } else if (/^[A-Za-z_:]/.test(token) && !WORDS.has(token)) metrics.push({ name: token, labels: [] })
    else if (isAggregate(token)) isAggregated = true
  }
  const by = isAggregated ? [...new Set(kept)] : null
  return {
    metrics: metrics.map(({ name, labels }) => ({ name, labels: [...new Set([...labels, ...kept])] })),
    matchers,
    by,
  }
}

function isAggregate(token: string): boolean {
  return ['sum', 'min', 'max', 'avg', 'count'].includes(token)
}

/** Tokens before the next `end`. */
function until(tokens: readonly string[], from: number, end: string): readonly string[] {
  return tokens.slice(from, tokens.indexOf(end, from))
}

function tokensOf(text: string): readonly string[] {
  const tokens: string[] = []
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < text.length) {
    const before = TOKEN.lastIndex
    const [token] = TOKEN.exec(text) ?? []
    if (token === undefined) throw new Error(`${text}: what is this? ${text.slice(before)}`)
    if (token.trim() !== '') tokens.push(token)
  }
  return tokens
}
