import { h, type ComponentChild } from 'preact'
import type { LiveView, ModelView } from '../../../../schemas/operator/live-view.ts'
import { DataTable, type Column } from '../parts/data-table.tsx'
import { StartLink } from '../parts/empty-links.tsx'
import { count, share } from '../parts/figures.tsx'
import { SubjectLink } from '../parts/subject-link.tsx'

const COLUMNS: readonly Column<ModelView>[] = [
  {
    title: 'Model',
    isName: true,
    // Those that stand for several have no page.
    cell: ({ model }) => (model.includes('/') ? <SubjectLink to="model" id={model} /> : model),
    sortBy: ({ model }) => model,
  },
  {
    title: 'Input tokens',
    isNumber: true,
    cell: (row) => count(row.input_tokens),
    sortBy: (row) => row.input_tokens,
  },
  {
    title: 'Cached',
    isNumber: true,
    cell: (row) => share(row.cached_share),
    sortBy: (row) => row.cached_share ?? -1,
  },
  { title: 'Dropped fields', isText: true, cell: droppedText },
]

/** What models were asked, and what ended their streams, since the processes started. */
export function Models({ models, cut }: Pick<LiveView['streams'], 'models' | 'cut'>): ComponentChild {
  return (
    <div>
      <DataTable<ModelView>
        caption="Input tokens and dropped fields by model"
        columns={COLUMNS}
        rows={models}
        keyOf={({ model }) => model}
        empty={['No model calls yet. ', <StartLink key="start" />]}
      />
      <p class="hint">{`${cutText(cut)} The figures start with the node.`}</p>
    </div>
  )
}

/** `seed 3, logit_bias 1`: the calls of each. */
export function droppedText({ dropped }: Pick<ModelView, 'dropped'>): string {
  return dropped.map(({ field, calls }) => `${field} ${count(calls)}`).join(', ')
}

export function cutText(cut: LiveView['streams']['cut']): string {
  if (cut.length === 0) return 'No interrupted streams.'
  return `Interrupted streams: ${cut.map(({ cause, streams }) => `${count(streams)} ${cause}`).join(', ')}.`
}
