import { parentPort, workerData } from 'node:worker_threads'
import type { CheckedCatalogue, CheckedFiles } from './check-aside.ts'
import { loadCatalogue } from './load.ts'

const loaded = loadCatalogue(workerData as CheckedFiles)
const checked: CheckedCatalogue = loaded.ok
  ? { ok: true, providers: loaded.providers, unpriced: loaded.unpriced }
  : loaded
parentPort?.postMessage(checked)
