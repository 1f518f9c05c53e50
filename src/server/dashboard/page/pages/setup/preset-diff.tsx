import { h, type ComponentChild } from 'preact'
import type { PresetDiff } from '../../../../../schemas/presets/preset-changes.ts'
import { Badge, type Tone } from '../../parts/badge.tsx'
import { DataTable, type Column } from '../../parts/data-table.tsx'
import { NONE } from '../../parts/figures.tsx'

type Change = 'added' | 'removed' | 'changed'
interface Field {
  readonly name: string
  readonly change: Change
  readonly from?: unknown
  readonly to?: unknown
}

const TONES: Readonly<Record<Change, Tone>> = { added: 'good', removed: 'bad', changed: 'warn' }

const COLUMNS: readonly Column<Field>[] = [
  { title: 'Field', isName: true, cell: ({ name }) => <code>{name}</code>, sortBy: ({ name }) => name },
  { title: 'Change', cell: ({ change }) => <Badge text={change} tone={TONES[change]} /> },
  { title: 'From', isText: true, cell: ({ from }) => valueOf(from) },
  { title: 'To', isText: true, cell: ({ to }) => valueOf(to) },
]

/** The changes of a preset's version, field by field, and line by line for its system prompt. */
export function PresetChanges({ diff }: { readonly diff: PresetDiff }): ComponentChild {
  const fields = fieldsOf(diff)
  const { from, to, system_prompt: prompt, ignored } = diff
  return (
    <div class="stack">
      {(fields.length > 0 || prompt === null) && (
        <DataTable<Field>
          caption={`Fields that version ${to} changed`}
          columns={COLUMNS}
          rows={fields}
          keyOf={({ name }) => name}
          empty={`Versions ${from ?? 'none'} and ${to} have the same fields and the same system prompt.`}
        />
      )}
      {prompt !== null && (
        <figure>
          <figcaption class="hint">System prompt</figcaption>
          <pre class="diff" tabIndex={0}>
            {lineChanges(prompt.from ?? '', prompt.to ?? '').map(({ mark, text }, nth) => (
              <span key={nth} class={LOOKS[mark]}>
                {`${mark} ${text}\n`}
              </span>
            ))}
          </pre>
        </figure>
      )}
      {ignored.length > 0 && (
        <p class="hint">{`Fields of the saved request that presets do not keep: ${ignored.join(', ')}.`}</p>
      )}
    </div>
  )
}

const LOOKS = { ' ': undefined, '-': 'gone', '+': 'new' } as const

function fieldsOf({ added, removed, changed }: PresetDiff): readonly Field[] {
  return [
    ...Object.entries(changed).map(([name, values]): Field => ({ name, change: 'changed', ...values })),
    ...Object.entries(added).map(([name, to]): Field => ({ name, change: 'added', to })),
    ...Object.entries(removed).map(([name, from]): Field => ({ name, change: 'removed', from })),
  ]
}

function valueOf(value: unknown): ComponentChild {
  return value === undefined ? NONE : <code>{JSON.stringify(value)}</code>
}

/** A line in a comparison of two texts: kept, removed or added. */
interface LineChange {
  readonly mark: ' ' | '-' | '+'
  readonly text: string
}

/** Lines of a text up to which the shortest list of changes is computed: the cost grows with the square of their number. */
export const COMPARED_LINES_MAX = 600

/** The shortest list of line changes that turns one text into the other. */
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

/** Number of common lines in the rests of both texts, for each pair of positions. */
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

/** An empty text has no lines. */
const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.split('\n'))
