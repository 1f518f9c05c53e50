import { startVideos, type FakeVideos, type VideoSettings } from '../../support/videos/video-provider.ts'
import type { SubmitKind, Submission } from './judging.ts'

export interface Poll {
  readonly kind: SubmitKind
  readonly upstreamId: string
  /** Of the asking connection. */
  readonly port: number
  /** Of the epoch. */
  readonly atMs: number
}

/** What the run asks, and what it is answered. */
export interface KindsTalk {
  readonly start: { readonly in: Partial<VideoSettings>; readonly out: Readonly<Record<SubmitKind, string>> }
  readonly submissions: { readonly in: null; readonly out: readonly Submission[] }
  readonly polls: { readonly in: null; readonly out: readonly Poll[] }
  readonly seen: { readonly in: readonly SubmitKind[]; readonly out: readonly number[] }
  readonly finish: { readonly in: null; readonly out: null }
  readonly set: {
    readonly in: { readonly kind: SubmitKind; readonly settings: Partial<VideoSettings> }
    readonly out: null
  }
}

const KINDS: Readonly<Record<SubmitKind, Partial<VideoSettings>>> = {
  token: { tokenHeader: 'idempotency-key', lists: false },
  lookup: { tokenHeader: null, lists: true },
  blind: { tokenHeader: null, lists: false },
}
const fakes = new Map<SubmitKind, FakeVideos>()

const ANSWERS: {
  readonly [K in keyof KindsTalk]: (
    question: KindsTalk[K]['in'],
  ) => KindsTalk[K]['out'] | Promise<KindsTalk[K]['out']>
} = {
  start,
  submissions: () =>
    [...fakes].flatMap(([kind, { log }]) =>
      log.submissions.map((one): Submission => ({
        kind,
        tag: /(?:job|late) \S+;/.exec(one.prompt)?.[0] ?? one.prompt,
        token: one.token,
        madeId: one.outcome === 'taken' ? one.id : null,
      })),
    ),
  polls: () =>
    [...fakes].flatMap(([kind, { log }]) =>
      log.pollsOf.map(({ id, port, atMs }): Poll => ({ kind, upstreamId: id, port, atMs })),
    ),
  seen: (kinds) => kinds.flatMap((kind) => seen(fakes.get(kind))).sort((a, b) => a - b),
  finish() {
    for (const fake of fakes.values()) fake.finish()
    return null
  },
  set({ kind, settings }) {
    fakes.get(kind)?.set(settings)
    return null
  },
}

process.on(
  'message',
  ({
    id,
    name,
    question,
  }: {
    readonly id: number
    readonly name: keyof KindsTalk
    readonly question: never
  }) => {
    void Promise.resolve(ANSWERS[name](question)).then((answer) => process.send?.({ id, answer }))
  },
)
process.once('disconnect', () => process.exit())

async function start(settings: Partial<VideoSettings>): Promise<Readonly<Record<SubmitKind, string>>> {
  const urls: Record<string, string> = {}
  for (const [kind, own] of Object.entries(KINDS) as [SubmitKind, Partial<VideoSettings>][]) {
    const fake = await startVideos({ ...settings, ...own })
    fakes.set(kind, fake)
    urls[kind] = fake.baseUrl
  }
  return urls as Record<SubmitKind, string>
}

/** Of each job whose end a poll saw: how long after. */
function seen(fake: FakeVideos | undefined): readonly number[] {
  const first = new Map<string, number>()
  for (const { id, atMs } of fake?.log.pollsOf ?? []) {
    const doneMs = fake?.jobs.get(id)?.doneMs ?? Infinity
    if (atMs >= doneMs && !first.has(id)) first.set(id, atMs - doneMs)
  }
  return [...first.values()]
}
