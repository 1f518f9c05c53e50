import type { Config } from '../config.ts'
import type { Metrics } from '../observe/metrics.ts'
import { countsOf } from '../observe/metric-table.ts'
import { openSpill, openSpillWriter, spillFolder } from '../observe/requests/spill-folder.ts'
import type { Log } from '../ports/observe.ts'
import { startRequestWriter } from '../runner/requests/request-writer.ts'
import type { Store } from '../store/base/open.ts'
import { isAway } from '../store/base/translate.ts'
import { openRequestRows } from '../store/requests/request-rows.ts'
import { RequestRecorder } from '../observe/observer.ts'

interface RequestLogDeps {
  readonly metrics: Pick<Metrics, 'registry'>
  readonly log: Log
}

/** A front's part of the request log; undefined when the log is off. */
export function openRequestRecorder(
  { dataDir, kept }: Pick<Config, 'dataDir' | 'kept'>,
  { metrics, log }: RequestLogDeps,
): RequestRecorder | undefined {
  if (kept.requestDays === null) return undefined
  return new RequestRecorder({
    spill: openSpillWriter(spillFolder(dataDir)),
    count: countsOf(metrics.registry, 'sluice_request_log_calls_total'),
    log,
  })
}

/**
 * The runner's part, in the first runner of a node. It also writes calls recorded before the log was turned
 * off.
 * @returns a function that ends it
 */
export function startRequestLog(
  { dataDir, kept }: Pick<Config, 'dataDir' | 'kept'>,
  { slot, store, metrics, log }: RequestLogDeps & { readonly slot: number; readonly store: Store },
): () => Promise<void> {
  if (slot !== 0) return () => Promise.resolve()
  return startRequestWriter({
    spill: openSpill(spillFolder(dataDir)),
    rows: openRequestRows(store),
    isOn: kept.requestDays !== null,
    count: countsOf(metrics.registry, 'sluice_request_log_calls_total'),
    log,
    isAway,
    now: () => performance.now(),
  })
}
