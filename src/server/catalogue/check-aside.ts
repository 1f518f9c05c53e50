import { Worker } from 'node:worker_threads'
import type { Provider } from '../ports/models/models.ts'
import type { CatalogueFiles } from './load.ts'
import type { CatalogueProblem } from './sources.ts'
import type { UnpricedEndpoint } from './terms.ts'

export type CheckedFiles = Pick<CatalogueFiles, 'shippedFile' | 'extraFile'>

export type CheckedCatalogue =
  | {
      readonly ok: true
      readonly providers: readonly Provider[]
      readonly unpriced: readonly UnpricedEndpoint[]
    }
  | { readonly ok: false; readonly problems: readonly CatalogueProblem[] }

/** Checks a catalogue in a thread: 100,000 models take more than a second, during which a supervisor could not answer. */
export function checkAside({ shippedFile, extraFile }: CheckedFiles): Promise<CheckedCatalogue> {
  const workerData: CheckedFiles = { shippedFile, extraFile }
  const thread = new Worker(new URL('../../../bundle/check-thread.js', import.meta.url), { workerData })
  return new Promise((resolve, reject) => {
    thread.once('message', resolve)
    thread.once('error', reject)
    thread.once('exit', (code) => reject(new Error(`the check of the catalogue ended with ${code}`)))
  })
}
