import { setTimeout as after } from 'node:timers/promises'
import type { LiveView } from '../../../../schemas/operator/live-view.ts'
import type { Secret } from '../../../../schemas/vault/secret.ts'
import { followLive, type LiveEnd } from '../../../supervisor/admin-port/live-stream.ts'
import { CliFailure } from '../../parts/verb.ts'
import { frameOf } from './frame.ts'
import { openScreen } from './screen.ts'

/** Milliseconds between two tries to reach a node that went away. Decision. */
export const TRY_AGAIN_MS = 1_000

export interface Watched {
  /** Null while no node runs. */
  adminUrl(): string | null
  readonly managementKey: Secret
  readonly hasColour: boolean
}

export type Terminal = Pick<NodeJS.Process, 'stdin' | 'stdout'>

/** Reads one view of a node. Throws CliFailure when no node runs. */
export async function lookOnce({ adminUrl, managementKey }: Watched): Promise<LiveView> {
  const url = adminUrl()
  if (url === null) throw new CliFailure(NO_NODE)
  const enough = new AbortController()
  const views: LiveView[] = []
  const end = await followLive({
    adminUrl: url,
    managementKey,
    signal: enough.signal,
    onView(view) {
      views.push(view)
      enough.abort()
    },
  })
  const [view] = views
  if (view === undefined) throw new CliFailure(messageOf(end))
  return view
}

/**
 * Shows the node until the user ends it; waits for a node that goes away. Throws CliFailure when the node
 * refuses the key.
 */
export async function watchLive(
  { adminUrl, managementKey, hasColour }: Watched,
  terminal: Terminal = process,
): Promise<void> {
  const ended = new AbortController()
  const seen: {
    view: LiveView | null
    trouble: { readonly reason: string; readonly sinceMs: number } | null
  } = { view: null, trouble: null }
  const draw = (): void => {
    const { columns, rows } = screen.size()
    const { view, trouble } = seen
    const problem =
      trouble === null
        ? null
        : { reason: trouble.reason, seconds: (performance.now() - trouble.sinceMs) / 1_000 }
    // The last column stays free: terminals differ in what they do after it.
    screen.draw(frameOf({ view, trouble: problem, columns: columns - 1, rows, hasColour }))
  }
  const screen = openScreen({
    input: terminal.stdin,
    output: terminal.stdout,
    onChange: () => draw(),
    onEnd: () => ended.abort(),
  })
  try {
    draw()
    while (!ended.signal.aborted) {
      const end = await next()
      if (ended.signal.aborted) break
      if (end.kind === 'refused') throw new CliFailure(messageOf(end))
      seen.trouble = { reason: end.reason, sinceMs: seen.trouble?.sinceMs ?? performance.now() }
      draw()
      await after(TRY_AGAIN_MS, undefined, { signal: ended.signal }).catch(() => undefined)
    }
  } finally {
    screen.leave()
  }

  function next(): Promise<LiveEnd> {
    const url = adminUrl()
    if (url === null) return Promise.resolve({ kind: 'away', reason: NO_NODE })
    return followLive({
      adminUrl: url,
      managementKey,
      signal: ended.signal,
      onView(view) {
        seen.view = view
        seen.trouble = null
        draw()
      },
    })
  }
}

const NO_NODE = 'no node is ready on this machine'

function messageOf({ kind, reason }: LiveEnd): string {
  return kind === 'refused'
    ? `the node refused this key: ${reason}`
    : `the live view of the node failed: ${reason}`
}
