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
    title: 'From caches',
    isNumber: true,
    cell: (row) => share(row.cached_share),
    sortBy: (row) => row.cached_share ?? -1,
  },
  { title: 'Fields left out', isText: true, cell: droppedText },
]

/** What models were asked, and what ended their streams, since the processes started. */
export function Models({ models, cut }: Pick<LiveView['streams'], 'models' | 'cut'>): ComponentChild {
  return (
    <div>
      <DataTable<ModelView>
        caption="Input of models, and what their providers did not get"
        columns={COLUMNS}
        rows={models}
        keyOf={({ model }) => model}
        empty={[
          'No model has answered yet. Tokens of each model will stand here, with the share that came from caches. ',
          <StartLink key="start" />,
        ]}
      />
      <p class="hint">{`${cutText(cut)} Since the processes started.`}</p>
    </div>
  )
}

/** `seed 3, logit_bias 1`: the calls of each. */
export function droppedText({ dropped }: Pick<ModelView, 'dropped'>): string {
  return dropped.map(({ field, calls }) => `${field} ${count(calls)}`).join(', ')
}

export function cutText(cut: LiveView['streams']['cut']): string {
  if (cut.length === 0) return 'No stream was cut.'
  return `Streams cut: ${cut.map(({ cause, streams }) => `${count(streams)} ${cause}`).join(', ')}.`
}
