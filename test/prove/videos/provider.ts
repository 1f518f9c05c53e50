/** Three providers in a process of their own, one for each kind of submission, and what they saw. */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { plainEnvironment } from '../../support/load/load.ts'
import type { VideoSettings } from '../../support/videos/video-provider.ts'
import { stopServer } from '../../support/nodes/spawned.ts'
import type { Proof } from '../proof.ts'
import type { SubmitKind, Submission } from './judging.ts'
import type { KindsTalk, Poll } from './provider-process.ts'

export interface KindsProvider {
  readonly baseUrls: Readonly<Record<SubmitKind, string>>
  submissions(): Promise<readonly Submission[]>
  polls(): Promise<readonly Poll[]>
  /** Milliseconds from the instant at which a job was made until a poll saw it, in order of size. */
  seenAfterMs(kinds: readonly SubmitKind[]): Promise<readonly number[]>
  /** The prompt's words for a job are another way: `test/support/videos/video-words.ts`. */
  set(kind: SubmitKind, settings: Partial<VideoSettings>): Promise<void>
  /** All that was submitted so far is made now. */
  finish(): Promise<void>
}

export async function startKindsProvider(
  proof: Proof,
  settings: Partial<VideoSettings> = {},
): Promise<KindsProvider> {
  const child = fork(fileURLToPath(new URL('./provider-process.js', import.meta.url)), {
    env: plainEnvironment(),
    execArgv: [],
    serialization: 'advanced',
  })
  proof.after(() => stopServer(child))
  let nth = 0
  const ask = <K extends keyof KindsTalk>(
    name: K,
    question: KindsTalk[K]['in'],
  ): Promise<KindsTalk[K]['out']> => {
    const id = nth++
    return new Promise((resolve, reject) => {
      const gone = (): void => reject(new Error('the provider has ended'))
      child.once('exit', gone)
      child.on(
        'message',
        function reported(message: { readonly id: number; readonly answer: KindsTalk[K]['out'] }) {
          if (message.id !== id) return
          child.off('message', reported)
          child.off('exit', gone)
          resolve(message.answer)
        },
      )
      child.send({ id, name, question })
    })
  }
  return {
    baseUrls: await ask('start', settings),
    submissions: () => ask('submissions', null),
    polls: () => ask('polls', null),
    seenAfterMs: (kinds) => ask('seen', kinds),
    async finish() {
      await ask('finish', null)
    },
    async set(kind, changed) {
      await ask('set', { kind, settings: changed })
    },
  }
}
