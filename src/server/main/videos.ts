import type { Config } from '../config.ts'
import type { Log } from '../ports/observe.ts'
import type { Ports } from '../ports/ports.ts'
import type { State } from '../redis/open.ts'
import { openVideoViews } from '../redis/video-views.ts'
import type { Store } from '../store/base/open.ts'
import { openVideoCancel } from '../store/videos/cancel.ts'
import type { EndContext } from '../store/videos/ends.ts'
import { openVideoJobs } from '../store/videos/open-videos.ts'
import { openAdminPorts } from './operator.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

export interface VideoDeps {
  readonly store: Store
  readonly state: State
  readonly log: Log
  /** Keys of the operator, by the name of their environment variable. */
  readonly credentials: Ports['operatorKeys']
}

export interface VideoServices {
  readonly ports: Pick<Ports, 'videos' | 'publicOrigin' | 'operatorKeys' | 'admin' | 'operators' | 'caps'>
  close(): Promise<void>
}

export function openVideoPorts(config: Config, { store, state, log, credentials }: VideoDeps): VideoServices {
  const views = openVideoViews(state)
  const videos = openVideoJobs({
    store,
    views,
    jobMs: config.videoJobHours * HOUR_MS,
    now: () => performance.now(),
    cancel: openVideoCancel({ store, views, context: endsOf(config, log) }),
  })
  const admin = openAdminPorts(config, { store, views })
  return {
    ports: { videos, publicOrigin: config.publicOrigin, operatorKeys: credentials, ...admin },
    close: () => views.close(),
  }
}

export function endsOf({ publicOrigin, videoClipDays }: Config, log: Log): EndContext {
  return { log, origin: publicOrigin, clipsKeptMs: videoClipDays * DAY_MS }
}
