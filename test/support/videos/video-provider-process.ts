/**
 * The fake provider of videos in a process of its own: ten thousand open jobs and thousands of requests a
 * second are its own load.
 */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { plainEnvironment } from '../load/load.ts'
import { stopServer } from '../nodes/spawned.ts'
import { startVideos, type VideoSettings } from './video-provider.ts'
import type { VideoLog } from './video-words.ts'

export interface VideosProcess {
  readonly origin: string
  readonly baseUrl: string
  set(settings: Partial<VideoSettings>): void
  /** What it has noted up to now. */
  log(): Promise<VideoLog & { readonly jobs: number }>
  stop(): Promise<void>
}

type Asked = { readonly set: Partial<VideoSettings> } | { readonly log: true }

export async function startVideosProcess(settings: Partial<VideoSettings> = {}): Promise<VideosProcess> {
  const child = fork(fileURLToPath(import.meta.url), [JSON.stringify(settings)], {
    env: plainEnvironment(),
    execArgv: [],
  })
  const reported = <T>(): Promise<T> =>
    new Promise((resolve, reject) => {
      child.once('message', (message) => resolve(message as T))
      child.once('exit', () => reject(new Error('the provider of videos has ended')))
    })
  const { origin, baseUrl } = await reported<{ readonly origin: string; readonly baseUrl: string }>()
  const ask = (asked: Asked): void => void child.send(asked)
  let last: Promise<unknown> = Promise.resolve()
  return {
    origin,
    baseUrl,
    set: (changed) => ask({ set: changed }),
    log() {
      // One at a time: answers carry no number.
      const answered = last.then(() => {
        const answer = reported<VideoLog & { readonly jobs: number }>()
        ask({ log: true })
        return answer
      })
      last = answered
      return answered
    },
    stop: () => stopServer(child),
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const fake = await startVideos(JSON.parse(process.argv[2] ?? '{}') as Partial<VideoSettings>)
  process.on('message', (message) => {
    const asked = message as Asked
    if ('set' in asked) fake.set(asked.set)
    else process.send?.({ ...fake.log, jobs: fake.jobs.size })
  })
  // Its starter is gone.
  process.on('disconnect', () => process.exit(0))
  process.send?.({ origin: fake.origin, baseUrl: fake.baseUrl })
}
