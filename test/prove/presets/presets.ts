/** One preset under 200 posts at once; two fronts see a roll back, by hint and by poll alone. */
import { setTimeout as after } from 'node:timers/promises'
import { API_PREFIX } from '../../../src/schemas/api-prefix.ts'
import { monotonicMs } from '../../support/load/load-plan.ts'
import { tree } from '../../support/load/process-cpu.ts'
import { served } from '../../support/wire/served.ts'
import { clientPortsOf } from '../../support/wire/sockets.ts'
import { startStand, type Stand } from '../../support/nodes/stand.ts'
import { Watcher, type Question, type Seen } from './watcher.ts'
import { tally, type Program, type Proof } from '../proof.ts'

const WITH_HINT_MS = 250
const BY_POLL_MS = 1_500
const ROUNDS = { hinted: { full: 100, short: 6 }, polled: { full: 20, short: 2 } }
/** In short so few that a slow machine answers all within their deadlines. */
const POSTS = { full: 200, short: 24 }
/** Milliseconds after which an unseen change is given up. */
const GIVE_UP_MS = 60_000
const CALLERS = 8
/** Milliseconds between two calls of a caller. */
const PAUSE_MS = { full: 10, short: 60 }
const CONNECTS_MAX = 20
const GONE = 'gone'

/** What the versions of each preset name; the catalogue below has both of each kind. */
const MODELS = { embed: ['prove/one', 'prove/two'], clip: ['prove/short', 'prove/long'] } as const
type Slug = keyof typeof MODELS

export const program: Program = {
  text: 'Presets on two fronts: 200 posts at once on one slug, and roll backs seen within 250 ms, 1.5 s without pub/sub',
  async run(proof) {
    const stand = await startStand({ settings: { SLUICE_FRONTS: '2' }, catalogue: CATALOGUE })
    proof.after(() => stand.stop())
    await raced(proof, stand)
    for (const slug of ['embed', 'clip'] as const)
      for (const model of MODELS[slug]) await save(stand, slug, model)
    const watchers = await watchBoth(proof, stand)
    const state: State = { proof, stand, watchers, now: { embed: MODELS.embed[1], clip: MODELS.clip[1] } }
    await rounds(state, {
      name: 'by hint',
      count: proof.isShort ? ROUNDS.hinted.short : ROUNDS.hinted.full,
      ms: WITH_HINT_MS,
    })
    await frozen(stand, async (isFrozen) => {
      const name = `by poll alone, Redis ${isFrozen ? 'frozen' : 'not found'}`
      await rounds(state, {
        name,
        count: proof.isShort ? ROUNDS.polled.short : ROUNDS.polled.full,
        ms: BY_POLL_MS,
      })
    })
    await Promise.all(watchers.flatMap(({ callers }) => callers.map((caller) => caller.stop())))
    await submitted(proof, stand)
  },
}

/** All at once on a new slug, over connections to both fronts. */
async function raced(proof: Proof, stand: Stand): Promise<void> {
  const count = proof.isShort ? POSTS.short : POSTS.full
  const posts = await Promise.all(
    Array.from({ length: count }, () =>
      manage(stand, 'POST', '/presets/raced/responses', { model: 'prove/one', input: 'x' }),
    ),
  )
  const statuses: Record<number, number> = {}
  for (const { status } of posts) statuses[status] = (statuses[status] ?? 0) + 1
  const made = posts.filter(({ status }) => status === 200).map(({ data }) => data)
  const numbers = made
    .map((preset) => (preset['designated_version'] as { version: number }).version)
    .sort((a, b) => a - b)
  proof.check(
    `${count} posts at once: every answer is 200 or 409`,
    (statuses[200] ?? 0) + (statuses[409] ?? 0) === count,
    tally(statuses),
  )
  proof.check(
    'they make one preset',
    new Set(made.map((preset) => preset['id'])).size === 1,
    `${made.length} answers`,
  )
  proof.check(
    'its versions are 1 to n without gap or twin',
    numbers.every((number, at) => number === at + 1),
    `1 to ${numbers.at(-1)}`,
  )
  const { total } = await manage(stand, 'GET', '/presets/raced/versions?limit=1')
  proof.check('and so they are read', total === made.length, `${total} versions`)
}

interface Watched {
  readonly slug: Slug
  readonly callers: readonly Watcher[]
}

interface State {
  readonly proof: Proof
  readonly stand: Stand
  readonly watchers: readonly Watched[]
  /** What each preset comes to, in a caller's word. */
  readonly now: Record<Slug, string>
}

/** Callers of both presets on both fronts; the kernel gives connections to fronts as it likes. */
async function watchBoth(proof: Proof, stand: Stand): Promise<readonly Watched[]> {
  const slugs = ['embed', 'clip'] as const
  const found = await Promise.all(
    slugs.map(async (slug) => ({ slug, ...(await watch(proof, stand, QUESTIONS[slug](stand))) })),
  )
  for (const { slug, fronts } of found)
    proof.check(`callers of ${slug} are on both fronts`, fronts === 2, `on ${fronts}`)
  return found
}

async function watch(
  { isShort }: Proof,
  stand: Stand,
  question: Question,
): Promise<{ readonly callers: readonly Watcher[]; readonly fronts: number }> {
  const pauseMs = isShort ? PAUSE_MS.short : PAUSE_MS.full
  for (let attempt = 1; ; attempt++) {
    const callers = Array.from({ length: CALLERS }, () => new Watcher(question, pauseMs))
    for (const caller of callers) caller.start()
    while (callers.some(({ seen }) => seen.length === 0)) await after(20)
    const fronts = stand.fronts().filter((pid) => {
      const ports = clientPortsOf(pid, stand.port)
      return callers.some(({ localPort }) => ports.has(localPort))
    }).length
    if (fronts === 2 || attempt === CONNECTS_MAX) return { callers, fronts }
    await Promise.all(callers.map((caller) => caller.stop()))
  }
}

interface Rounds {
  readonly name: string
  readonly count: number
  readonly ms: number
}

async function rounds(state: State, { name, count, ms }: Rounds): Promise<void> {
  const { proof, watchers, now } = state
  const last: number[] = []
  const flips: string[] = []
  for (let round = 0; round < count; round++) {
    const slug = round % 2 === 0 ? 'embed' : 'clip'
    const before = now[slug]
    const change = await changed(state, slug, round)
    const isSeen = await untilSeen(watchers, slug, { word: now[slug], at: change.at, ms })
    if (!isSeen) flips.push(`round ${round + 1}: not seen within ${GIVE_UP_MS} ms`)
    const rows = watchers
      .filter((watched) => watched.slug === slug)
      .flatMap(({ callers }) => callers.map(({ seen }) => seen))
    const old = rows.flat().filter(({ startedAt, word }) => startedAt > change.at && word !== now[slug])
    last.push(Math.max(0, ...old.map(({ startedAt }) => startedAt - change.at)))
    flips.push(...rows.flatMap((seen) => strayed(seen, { at: change.at, before, now: now[slug] })))
    for (const { callers } of watchers) for (const { seen } of callers) seen.splice(0, seen.length - 1)
    proof.say(
      `${name} ${round + 1}: ${slug} ${change.how}, ${before} → ${now[slug]}, last seen before ${last.at(-1)?.toFixed(1)} ms after its commit`,
    )
  }
  const late = last.filter((span) => span > ms).length
  const found = flips.slice(0, 5).join('; ') || `${count} changes`
  proof.check(
    `${name}: each front goes from the old to the new once, and no call fails between`,
    flips.length === 0,
    found,
  )
  proof.checkTimed(
    `${name}: no call that began more than ${ms} ms after a change is answered by what was before`,
    late === 0,
    `${count - late} of ${count} changes, the last one after ${Math.max(...last).toFixed(1)} ms`,
  )
}

/**
 * A version that is saved, designated or archived, at random; what it comes to is another model than before.
 */
async function changed(
  state: State,
  slug: Slug,
  round: number,
): Promise<{ readonly at: number; readonly how: string }> {
  const { proof, stand, now } = state
  const isGone = now[slug] === GONE
  const other = MODELS[slug].findIndex((model) => model !== now[slug])
  // Every third one is a post: it makes an archived preset active again.
  const how = isGone || proof.random(3) === 0 ? 'saved' : round % 5 === 4 ? 'archived' : 'designated'
  now[slug] = how === 'archived' ? GONE : (MODELS[slug][other] ?? '')
  const answer = await (how === 'saved'
    ? save(stand, slug, now[slug])
    : how === 'archived'
      ? manage(stand, 'POST', `/presets/${slug}/archive`)
      : manage(stand, 'POST', `/presets/${slug}/designate`, { version: other + 1 }))
  if (answer.status !== 200)
    throw new Error(`${slug} ${how}: ${answer.status} ${JSON.stringify(answer.data)}`)
  // The instant is that of the row's change, a little before the commit: the stricter of the two.
  return { at: monotonicMs() - (Date.now() - Date.parse(String(answer.data['updated_at']))), how }
}

interface Expected {
  readonly word: string
  readonly at: number
  readonly ms: number
}

/** Until every caller has it, and as long as an old one would be a fault. */
async function untilSeen(
  watchers: readonly Watched[],
  slug: Slug,
  { word, at, ms }: Expected,
): Promise<boolean> {
  const seen = watchers
    .filter((watched) => watched.slug === slug)
    .flatMap(({ callers }) => callers.map((caller) => caller.seen))
  const endsAt = monotonicMs() + GIVE_UP_MS
  const isThere = (): boolean => seen.every((rows) => rows.at(-1)?.word === word)
  while ((!isThere() || monotonicMs() < at + Math.min(ms, 400)) && monotonicMs() < endsAt) await after(10)
  return isThere()
}

/** Answers to one caller other than the old version and then the new. */
function strayed(
  rows: readonly Seen[],
  { at, before, now }: { readonly at: number; readonly before: string; readonly now: string },
): readonly string[] {
  const words = rows.filter(({ startedAt }) => startedAt > at).map(({ word }) => word)
  const first = words.indexOf(now)
  return words.filter((word, index) => word !== now && (word !== before || (first !== -1 && index > first)))
}

/** @param work gets whether there was a Redis to freeze */
async function frozen(stand: Stand, work: (isFrozen: boolean) => Promise<void>): Promise<void> {
  const redis = tree(stand.pid).find(
    (row) => /redis/.test(`${row.name} ${row.arguments.join(' ')}`) && row.parent === stand.pid,
  )
  if (redis !== undefined) process.kill(redis.pid, 'SIGSTOP')
  try {
    await work(redis !== undefined)
  } finally {
    if (redis !== undefined) process.kill(redis.pid, 'SIGCONT')
  }
}

/** Video jobs are accepted by each form of a preset's name. */
async function submitted(proof: Proof, stand: Stand): Promise<void> {
  await save(stand, 'film', 'sluice/clip-1')
  await save(stand, 'film', 'prove/one')
  const bodies = [
    { model: '@preset/film@1' },
    { preset: 'film@1' },
    { model: 'sluice/clip-1@preset/film' },
    { model: 'sluice/clip-1', preset: 'film' },
  ]
  const statuses: Record<number, number> = {}
  for (const body of bodies) {
    const { status } = await call(stand, stand.keys.inference_key, {
      method: 'POST',
      path: '/videos',
      body: { ...body, prompt: 'a boat', duration: 1 },
    })
    statuses[status] = (statuses[status] ?? 0) + 1
  }
  proof.check(
    'a preset submits video jobs by each form of its name',
    statuses[202] === bodies.length,
    tally(statuses),
  )
}

interface Managed {
  readonly status: number
  readonly data: Readonly<Record<string, unknown>>
  readonly total: unknown
}

function save(stand: Stand, slug: string, model: string): Promise<Managed> {
  return manage(stand, 'POST', `/presets/${slug}/responses`, { model, input: 'x' })
}

function manage(stand: Stand, method: string, path: string, body?: object): Promise<Managed> {
  return call(stand, stand.keys.management_key, { method, path, ...(body !== undefined && { body }) })
}

interface Sent {
  readonly method: string
  readonly path: string
  readonly body?: object
}

function call(stand: Stand, key: string, sent: Sent): Promise<Managed> {
  return served(() => callOnce(stand, key, sent))
}

async function callOnce(stand: Stand, key: string, { method, path, body }: Sent): Promise<Managed> {
  const answer = await fetch(`http://127.0.0.1:${stand.port}${API_PREFIX}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const reply = (await answer.json()) as {
    data?: Record<string, unknown>
    error?: Record<string, unknown>
    total_count?: unknown
  }
  return { status: answer.status, data: reply.data ?? reply.error ?? {}, total: reply.total_count }
}

interface Answer {
  readonly model?: string
  readonly error?: {
    readonly metadata: {
      readonly error_type: string
      readonly issues?: readonly { readonly expected: string }[]
    }
  }
}

/**
 * Each caller asks so that the answer says which model its preset came to; a video call is refused, or its
 * jobs would fill the workspace.
 */
const QUESTIONS: Readonly<Record<Slug, (stand: Stand) => Question>> = {
  embed: (stand) => ({
    port: stand.port,
    path: `${API_PREFIX}/embeddings`,
    key: stand.keys.inference_key,
    body: { model: '@preset/embed', input: 'x' },
    read: (status, body) =>
      status === 200 ? String((body as Answer).model) : refused(status, body as Answer),
  }),
  clip: (stand) => ({
    port: stand.port,
    path: `${API_PREFIX}/videos`,
    key: stand.keys.inference_key,
    body: { preset: 'clip', prompt: 'a boat', duration: 10 },
    read(status, body) {
      const expected = (body as Answer).error?.metadata.issues?.[0]?.expected
      return (expected !== undefined && DURATIONS[expected]) || refused(status, body as Answer)
    },
  }),
}

/** By what a refusal says that the model takes. */
const DURATIONS: Readonly<Record<string, string>> = { 1: MODELS.clip[0], 9: MODELS.clip[1] }

function refused(status: number, body: Answer): string {
  const type = body.error?.metadata.error_type
  return type === 'preset_unknown' ? GONE : `${status} ${type}`
}

const vectors = (id: string): object => ({
  id,
  name: id,
  architecture: { output_modalities: ['embeddings'] },
  endpoints: [{ provider: 'local', upstream_model: 'lexical-1' }],
})
const clips = (id: string, seconds: number): object => ({
  id,
  name: id,
  architecture: { output_modalities: ['video'] },
  video: { durations: [seconds] },
  endpoints: [{ provider: 'local', upstream_model: 'clip-1' }],
})

const CATALOGUE = {
  models: [
    vectors(MODELS.embed[0]),
    vectors(MODELS.embed[1]),
    clips(MODELS.clip[0], 1),
    clips(MODELS.clip[1], 9),
  ],
}
