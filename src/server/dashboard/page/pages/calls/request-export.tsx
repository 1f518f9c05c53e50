import { h, type ComponentChild } from 'preact'
import { useState } from 'preact/hooks'
import type { REQUESTS_EXPORT_MAX } from '../../../../../schemas/requests/request-limits.ts'
import type { Query } from '../../api.ts'
import type { PageContext } from '../../page.ts'
import { Dialog, useAction } from '../../parts/dialog.tsx'
import { Form, SelectField } from '../../parts/fields.tsx'
import { count } from '../../parts/figures.tsx'

/** Rows of a file. */
const ROWS_MAX: typeof REQUESTS_EXPORT_MAX = 100_000
/** Milliseconds that a browser has to begin the download, before its bytes are let go. */
const KEPT_MS = 60_000

const FORMATS = [
  ['csv', 'CSV, for spreadsheets'],
  ['ndjson', 'NDJSON, one JSON object per line'],
] as const

interface ExportDialogProps extends Pick<PageContext, 'api' | 'say'> {
  readonly search: Query
  onClose(): void
}

/** Downloads all calls of the search. */
export function ExportDialog({ api, say, search, onClose }: ExportDialogProps): ComponentChild {
  const [format, setFormat] = useState<string>(FORMATS[0][0])
  const { isBusy, problem, start } = useAction(
    async () => {
      const query = { ...search, format, all: true }
      const answer = await api.open(['admin', 'requests'], query, new AbortController().signal)
      save(await answer.blob(), `requests.${format}`)
    },
    () => {
      say('Calls exported.')
      onClose()
    },
  )
  return (
    <Dialog title="Export calls" onClose={onClose}>
      <Form action="Export" isBusy={isBusy} problem={problem} onSubmit={start} onCancel={onClose}>
        <SelectField
          label="Format"
          value={format}
          options={FORMATS}
          onInput={setFormat}
          hint={`Exports the newest ${count(ROWS_MAX)} calls that match the filters.`}
        />
      </Form>
    </Dialog>
  )
}

function save(bytes: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(bytes)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT_MS)
}
