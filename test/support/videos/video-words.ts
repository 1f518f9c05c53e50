/**
 * Commands in a prompt for a fake provider: `a fox [fail] [busy:503 retry=1 times=2]`, and the provider's
 * notes.
 */

export interface VideoSubmission {
  readonly token: string | null
  readonly prompt: string
  /** Of the provider's clock. */
  readonly atMs: number
  /** Of the job that was made or found; null = none was. */
  readonly id: string | null
  readonly outcome: 'taken' | 'repeated' | 'refused' | 'dropped'
  readonly path: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly bodyBytes: number
}

export interface VideoLog {
  readonly submissions: VideoSubmission[]
  /** Polls by the second of the epoch. */
  readonly polls: Record<string, number>
  /** Each poll of a job, with the port that it came from. */
  readonly pollsOf: { readonly id: string; readonly port: number; readonly atMs: number }[]
  lists: number
  /** Ids, in order. */
  readonly downloads: string[]
  readonly cancels: string[]
  /** Requests with a wrong key. */
  refused: number
}

export interface VideoWords {
  /** What happens to a submission: before a job is made, or after. */
  readonly submit:
    | 'hang-up-before'
    | 'busy'
    | 'refuse'
    | 'hang-up-after'
    | 'hang-after'
    | 'html-after'
    | 'error-after'
    | null
  /** How many submissions of the same prompt it happens to; all of them where it refuses. */
  readonly times: number
  readonly status: number
  readonly retryAfter: string | null
  readonly poll: 'fail' | 'never' | 'hang' | 'error' | 'inline' | null
  readonly clip: ClipWord | null
  /** The job's name, where two shall have the same. */
  readonly id: string | null
  /** Where the clip is said to lie. */
  readonly url: string | null
  readonly makeMs: number | null
  readonly cost: number | string | null
}

export interface VideoJob {
  readonly id: string
  readonly model: string
  readonly prompt: string
  readonly words: VideoWords
  readonly createdMs: number
  readonly doneMs: number
  readonly remixOf: string | null
  readonly fields: Readonly<Record<string, unknown>>
}

const SUBMIT = [
  'hang-up-before',
  'busy',
  'refuse',
  'hang-up-after',
  'hang-after',
  'html-after',
  'error-after',
] as const
const POLL = ['fail', 'never', 'hang', 'error', 'inline'] as const
const CLIP_WORDS = [
  'truncate',
  'cut',
  'stall',
  'type',
  'html',
  'lie',
  'json',
  'gone',
  'broken',
  'empty',
  'announce',
  'huge',
  'redirect',
] as const
type ClipWord = (typeof CLIP_WORDS)[number]
const STATUS_OF = { busy: 429, refuse: 400, 'error-after': 500 } as const

/** Words stand in brackets; `name=value` ones set what the others leave open. */
export function wordsIn(prompt: string): VideoWords {
  const words = [...prompt.matchAll(/\[([^\]]+)\]/g)].flatMap(([, inner = '']) => inner.split(/\s+/))
  const value = (name: string): string | null =>
    words.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1) ?? null
  const submit = SUBMIT.find((word) => words.includes(word)) ?? null
  const cost = value('cost')
  return {
    submit,
    times: Number(value('times') ?? 1),
    status: Number(
      value('status') ??
        (submit !== null && submit in STATUS_OF ? STATUS_OF[submit as keyof typeof STATUS_OF] : 200),
    ),
    retryAfter: value('retry'),
    poll: POLL.find((word) => words.includes(word)) ?? null,
    clip: CLIP_WORDS.find((word) => words.includes(word)) ?? null,
    id: value('id'),
    url: value('url'),
    makeMs: value('make') === null ? null : Number(value('make')),
    // NaN has no form in JSON: what some write in its place is a text.
    cost: cost === null ? null : Number.isNaN(Number(cost)) ? cost : Number(cost),
  }
}
