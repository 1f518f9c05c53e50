/**
 * Takes errors that nothing has caught to the test that runs, in place of tap's `async-hook-domain`. That
 * package follows every promise and timer of a process by async hooks, and its hooks ran for a sixth of the
 * CPU of the tests. Tests run one after another: the one that began last is the one that runs.
 */
import { executionAsyncResource } from 'node:async_hooks'

/** Domains that are not destroyed, in the order in which they were made, and the test of each. */
const open = new Map()

export class Domain {
  /** @param onerror gets the error, and `uncaughtException` or `unhandledRejection` */
  constructor(onerror) {
    this.onerror = onerror
    if (open.size === 0) process.on('uncaughtException', hear)
    // tap makes a test's domain within the test's own resource; the one of the whole file has none.
    open.set(this, executionAsyncResource()?.test)
  }

  destroy() {
    if (open.delete(this) && open.size === 0) process.removeListener('uncaughtException', hear)
  }
}

function hear(problem, origin) {
  // A test that listens itself is about such errors.
  if (process.listenerCount('uncaughtException') > 1) return
  const domain = running()
  try {
    domain.onerror(problem, origin)
  } catch (cause) {
    // What cannot fail any more leaves the error to what is around it.
    domain.destroy()
    if (open.size === 0) throw cause
    hear(cause, 'uncaughtException')
  }
}

/** The domain of the test that began last; of a file whose tests wait, its first one. */
function running() {
  const begun = [...open].filter(([, test]) => test !== undefined && test.start > 0n)
  const [last] = begun.sort(([, one], [, other]) => (one.start < other.start ? -1 : 1)).at(-1) ?? [
    ...open.keys(),
  ]
  return last
}
