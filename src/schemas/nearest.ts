/** Known names that a message suggests for an unknown one. Decision. */
const NEAREST_NAMES_MAX = 3
/** Known names that are compared with an unknown one: more would block the loop at every unknown name. Decision. */
export const NAMES_COMPARED_MAX = 500
/** Mistakes that a name may contain and still be recognized; a short name may contain fewer. Decision. */
const NAME_MISTAKES_MAX = 3
/** Characters of a caller's name that are compared and that a message shows. Decision. */
const NAME_SHOWN_CHARS_MAX = 96

/** A caller's name in a message: one short line in backticks, without any text that may be a key. */
export function shown(name: string): string {
  if (/^(?:Bearer )?(?:sk|pk|key|AIza)[-_\w]*$/i.test(name) && name.length > 20) return '`[…]`'
  const line = name
    .slice(0, NAME_SHOWN_CHARS_MAX)
    .replace(/[\p{C}\s`]+/gu, ' ')
    .replace(/[\ud800-\udbff]$/, '')
  return `\`${line}${name.length > NAME_SHOWN_CHARS_MAX ? '…' : ''}\``
}

/**
 * The known names that were possibly meant by a misspelled name, the nearest first; case is ignored.
 * @param known the first NAMES_COMPARED_MAX are compared
 */
export function nearest(name: string, known: Iterable<string>): readonly string[] {
  const wanted = name.slice(0, NAME_SHOWN_CHARS_MAX).toLowerCase()
  const most = Math.max(1, Math.min(NAME_MISTAKES_MAX, Math.floor(wanted.length / 3)))
  const bounds = { most, own: `/${wanted.slice(wanted.indexOf('/') + 1)}` }
  const found: { readonly name: string; readonly distance: number }[] = []
  let count = 0
  for (const candidate of known) {
    if (++count > NAMES_COMPARED_MAX) break
    const distance = nearness(wanted, candidate.toLowerCase(), bounds)
    if (distance <= most) found.push({ name: candidate, distance })
  }
  return found
    .sort((one, other) => one.distance - other.distance)
    .slice(0, NEAREST_NAMES_MAX)
    .map((each) => each.name)
}

/** The end of a message that suggests names; empty when no name is similar. */
export function hintOf(names: readonly string[]): string {
  return names.length === 0 ? '' : ` Nearest: ${names.map((name) => `\`${name}\``).join(', ')}.`
}

interface Bounds {
  readonly most: number
  /** The wanted name without its author, after a slash. */
  readonly own: string
}

/** The fewest characters of a prefix that is recognized as a name. Decision. */
const BEGINNING_CHARS_MIN = 4

/**
 * A prefix counts as one mistake, and so does a name without its author: `embed-1` for `acme/embed-1`. A
 * different author counts as two. A name without its author may contain further mistakes.
 */
function nearness(wanted: string, known: string, { most, own }: Bounds): number {
  const isBare = own.length > wanted.length
  if (known.endsWith(own)) return Math.min(isBare ? 1 : 2, known === wanted ? 0 : most)
  if (wanted.length >= BEGINNING_CHARS_MIN && known.startsWith(wanted)) return 1
  const whole = editDistance(wanted, known, most)
  const at = isBare && most > 1 && whole > 1 ? known.indexOf('/') : -1
  return at < 0 ? whole : Math.min(whole, 1 + editDistance(wanted, known.slice(at + 1), most - 1))
}

/**
 * The number of insertions, deletions, replacements and swaps of neighbors between two texts; `most` + 1 if
 * there are more. Compares only positions that are at most `most` apart, so the cost is linear in the length.
 */
export function editDistance(one: string, other: string, most: number): number {
  const far = most + 1
  if (Math.abs(one.length - other.length) > most || Math.max(one.length, other.length) >= ROW_MAX)
    return one === other ? 0 : far
  // Skips the common beginning: most names of one catalogue begin alike.
  let start = 0
  while (start < one.length && one[start] === other[start]) start++
  let [before, last, line] = ROWS
  for (let column = start; column <= other.length; column++) last[column] = Math.min(column - start, far)
  for (let row = start + 1; row <= one.length; row++) {
    const [from, to] = [Math.max(start + 1, row - most), Math.min(other.length, row + most)]
    line.fill(far, start, other.length + 1)
    line[start] = Math.min(row - start, far)
    let least = line[start] ?? far
    for (let column = from; column <= to; column++) {
      const isSame = one.charCodeAt(row - 1) === other.charCodeAt(column - 1)
      let cost = Math.min(
        (last[column] ?? far) + 1,
        (line[column - 1] ?? far) + 1,
        (last[column - 1] ?? far) + (isSame ? 0 : 1),
      )
      const isSwap =
        row > start + 1 &&
        column > start + 1 &&
        one.charCodeAt(row - 1) === other.charCodeAt(column - 2) &&
        one.charCodeAt(row - 2) === other.charCodeAt(column - 1)
      if (isSwap) cost = Math.min(cost, (before[column - 2] ?? far) + 1)
      line[column] = Math.min(cost, far)
      least = Math.min(least, cost)
    }
    if (least > most) return far
    ;[before, last, line] = [last, line, before]
  }
  return last[other.length] ?? far
}

/** Characters of a text that are compared. */
const ROW_MAX = 256
/** The three rows of costs, reused, so that comparing thousands of names allocates nothing. */
const ROWS = [new Int32Array(ROW_MAX + 1), new Int32Array(ROW_MAX + 1), new Int32Array(ROW_MAX + 1)] as const
