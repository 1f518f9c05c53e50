/** Lines before the records that are a title, a comment or empty. Decision. */
const LEADING_LINES_MAX = 5
/** Records of a table that does not follow RFC 4180, at least. Decision. */
const RECORDS_MIN = 3
/** Fields of most records of such a table, at least. Decision. */
const FIELDS_MIN = 3
/** Share of the records that have the most common number of fields. Decision. */
const SAME_SHARE_MIN = 0.8
/** The same share of a table in which no record has a single field. Decision. */
const SAME_SHARE_MIN_WITHOUT_SINGLES = 0.6
/** `sep=;` in the first line, by which programs tell a spreadsheet the delimiter. */
const SEPARATOR_LINE = /^"?sep=([,;\t|])"?\r?\n/i

/**
 * Whether a text is a table as spreadsheets and programs write it: with a title, ragged records, or quotes
 * within fields. C26.
 * @param head the text's first bytes, one character for each byte
 * @param isWhole whether these are the whole text
 */
export function isLooseCsv(head: string, isWhole: boolean): boolean {
  return [',', ';', '\t'].some((delimiter) => isTable(countFields(head, delimiter, isWhole)))
}

/** Whether the first line names the delimiter and the next lines contain it. */
export function hasSeparatorLine(head: string): boolean {
  const separator = SEPARATOR_LINE.exec(head)
  const [first = 0] =
    separator === null ? [] : countFields(head.slice(separator[0].length), separator[1] ?? ',')
  return first >= 2
}

function isTable(counts: readonly number[]): boolean {
  const first = counts.findIndex((fields) => fields >= 2)
  if (first < 0 || first > LEADING_LINES_MAX) return false
  const records = counts.slice(first).filter((fields) => fields > 0)
  const [most, same] = mostCommon(records)
  if (records.length < RECORDS_MIN || most < 2) return false
  // Lines of prose often have a comma each; below a title they are a table.
  if (same === records.length && first > 0) return true
  const isEach = records.every((fields) => fields >= 2)
  return (
    most >= FIELDS_MIN && same >= (isEach ? SAME_SHARE_MIN_WITHOUT_SINGLES : SAME_SHARE_MIN) * records.length
  )
}

function mostCommon(records: readonly number[]): readonly [fields: number, records: number] {
  const sums = new Map<number, number>()
  for (const fields of records) sums.set(fields, (sums.get(fields) ?? 0) + 1)
  return [...sums].reduce((best, sum) => (sum[1] > best[1] ? sum : best), [0, 0])
}

/**
 * Fields of each line, 0 for an empty line. A quote at a field's beginning opens a quoted field that may span
 * lines. Empty when a quote is never closed.
 */
function countFields(text: string, delimiter: string, isWhole = true): readonly number[] {
  const counts: number[] = []
  const special = new RegExp(`["${delimiter}\\n]`, 'g')
  let [fields, fieldAt, lineAt] = [1, 0, 0]
  for (let found = special.exec(text); found !== null; found = special.exec(text)) {
    const at = found.index
    if (found[0] === '"') {
      if (at !== fieldAt) continue
      const end = closingQuote(text, at + 1)
      if (end < 0) return isWhole ? [] : counts
      special.lastIndex = end + 1
      continue
    }
    if (found[0] === '\n') {
      counts.push(isEmpty(text, lineAt, at) ? 0 : fields)
      fields = 1
      lineAt = at + 1
    } else fields++
    fieldAt = at + 1
  }
  if (isWhole && !isEmpty(text, lineAt, text.length)) counts.push(fields)
  return counts
}

function isEmpty(text: string, start: number, end: number): boolean {
  return end === start || (end === start + 1 && text[start] === '\r')
}

/**
 * @returns the place of the quote that ends a field, where two quotes in a row stand for one; -1 when there
 * is none
 */
function closingQuote(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at >= 0; at = text.indexOf('"', at + 2))
    if (text[at + 1] !== '"') return at
  return -1
}
