import { h, type ComponentChild } from 'preact'
import type { PresetDiff } from '../../../../../schemas/presets/preset-changes.ts'
import { Badge, type Tone } from '../../parts/badge.tsx'
import { DataTable, type Column } from '../../parts/data-table.tsx'
import { NONE } from '../../parts/figures.tsx'
import { lineChanges } from './line-changes.ts'

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

/** What a version of a preset changed, field by field, and of its system prompt line by line. */
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
