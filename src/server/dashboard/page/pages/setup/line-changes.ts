/** A line of two texts that are compared: kept, gone or new. */
export interface LineChange {
  readonly mark: ' ' | '-' | '+'
  readonly text: string
}

/** Lines of a text up to which the shortest list of changes is looked for: its cost grows with their square. */
export const COMPARED_LINES_MAX = 600

/** What turns one text into the other, line by line, with as few changes as there can be. */
export function lineChanges(from: string, to: string): readonly LineChange[] {
  const [before, after] = [linesOf(from), linesOf(to)]
  if (Math.max(before.length, after.length) > COMPARED_LINES_MAX)
    return [...marked('-', before), ...marked('+', after)]
  const common = commonCounts(before, after)
  const changes: LineChange[] = []
  let [row, column] = [0, 0]
  while (row < before.length || column < after.length) {
    const [old, new_] = [before[row], after[column]]
    if (old !== undefined && old === new_) {
      changes.push({ mark: ' ', text: old })
      row++
      column++
    } else if (
      old !== undefined &&
      (new_ === undefined || at(common, row + 1, column) >= at(common, row, column + 1))
    ) {
      changes.push({ mark: '-', text: old })
      row++
    } else {
      changes.push({ mark: '+', text: new_ ?? '' })
      column++
    }
  }
  return changes
}

/** Lines that are common to what is left of both texts, from each pair of places on. */
function commonCounts(before: readonly string[], after: readonly string[]): readonly Uint16Array[] {
  const rows = Array.from({ length: before.length + 1 }, () => new Uint16Array(after.length + 1))
  for (let row = before.length - 1; row >= 0; row--)
    for (let column = after.length - 1; column >= 0; column--)
      (rows[row] ?? [])[column] =
        before[row] === after[column]
          ? at(rows, row + 1, column + 1) + 1
          : Math.max(at(rows, row + 1, column), at(rows, row, column + 1))
  return rows
}

const at = (rows: readonly Uint16Array[], row: number, column: number): number => rows[row]?.[column] ?? 0

const marked = (mark: LineChange['mark'], lines: readonly string[]): readonly LineChange[] =>
  lines.map((text) => ({ mark, text }))

/** A text that is not there has no line. */
const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.split('\n'))
