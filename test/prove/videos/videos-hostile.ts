/**
 * Whatever a provider answers, the job ends cleanly, no process crashes, and only made clips are charged.
 */
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { VIDEO_ENDINGS } from '../../../src/schemas/videos/video-jobs.ts'
import { countOf, readJobs, some } from './judging.ts'
import { pidsOf } from './killing.ts'
import { startKindsProvider } from './provider.ts'
import { modelOf, startVideoStand, type VideoStand } from './video-stand.ts'
import type { Program, Proof } from '../proof.ts'

const ENDED_MS_MAX = 240_000
const ENDINGS: ReadonlySet<string> = new Set(VIDEO_ENDINGS)
/** MiB that a runner may grow by while providers pour ten gigabytes into it. */
const GROWTH_MIB_MAX = 150

type End = 'failed' | 'completed' | 'open'

/**
 * What the fake does with a job of this prompt, and how the job must end. What may mend itself stays open
 * until the job expires.
 */
const HOSTILE: readonly (readonly [string, End])[] = [
  ['[refuse]', 'failed'],
  ['[refuse status=403]', 'open'],
  ['[never]', 'open'],
  ['[refuse status=422]', 'failed'],
  ['[fail]', 'failed'],
  ['[id=twin]', 'completed'],
  ['[busy retry=1]', 'completed'],
  ['[busy status=503]', 'completed'],
  ['[busy status=529 retry=NaN]', 'completed'],
  ['[busy retry=-5]', 'completed'],
  ['[truncate]', 'failed'],
  ['[cut]', 'failed'],
  ['[stall]', 'failed'],
  ['[type]', 'failed'],
  ['[html]', 'failed'],
  ['[lie]', 'failed'],
  ['[json]', 'failed'],
  ['[gone]', 'failed'],
  ['[broken]', 'open'],
  ['[empty]', 'failed'],
  ['[announce]', 'failed'],
  ['[huge]', 'failed'],
  ['[cost=-5]', 'completed'],
  ['[cost=NaN]', 'completed'],
  ['[cost=1e300]', 'completed'],
]
/** Takes as long as all tries of a download may stall. */
const SLOW = '[stall]'
/**
 * With a token each submission may be repeated; only then must what was taken and not answered be completed.
 */
const UNANSWERED = [
  '[hang-up-before]',
  '[hang-up-after]',
  '[hang-after]',
  '[html-after]',
  '[error-after]',
] as const

export const program: Program = {
  text: 'truncated, endless, mistyped, mispriced and misdirected answers of video providers: each job ends cleanly',
  async run(proof) {
    const trap = await startTrap(proof)
    const provider = await startKindsProvider(proof, { makeMs: 100 })
    const bench = await startVideoStand(proof, {
      fronts: 1,
      runners: 1,
      providers: provider.baseUrls,
      video: {
        polls_per_second: 50,
        poll_first_ms: 100,
        poll_max_ms: 500,
        submit_timeout_ms: proof.isShort ? 5_000 : 2_000,
        lookup_quiet_ms: 2_000,
      },
    })
    const runners = pidsOf(bench.stand.pid, 'runner')
    const beforeMib = await rssMib(runners[0] ?? 0)
    const wanted = new Map<string, End>()
    const words = [
      ...HOSTILE.filter(([word]) => !(proof.isShort && word === SLOW)),
      [`[redirect url=http://127.0.0.1:${trap.port}/]`, 'failed'] as const,
      ...UNANSWERED.map((one) => [one, 'completed'] as const),
    ]
    for (const [word, end] of words) wanted.set(await submit(bench, `a fox ${word}`), end)
    let most = beforeMib
    const watching = setInterval(
      () => void rssMib(runners[0] ?? 0).then((mib) => (most = Math.max(most, mib))),
      100,
    )
    const endedMs = await untilEnded(
      bench,
      [...wanted].flatMap(([id, end]) => (end === 'open' ? [] : [id])),
    )
    clearInterval(watching)
    await judge(proof, bench, { wanted, words: words.map(([word]) => word), endedMs })
    proof.check(
      'no connection reaches the trap',
      trap.connections() === 0,
      `${trap.connections()} connections`,
    )
    proof.check(
      'nothing crashes',
      same(runners, pidsOf(bench.stand.pid, 'runner')),
      `runner ${runners.join()}`,
    )
    const grown = `${beforeMib.toFixed(0)} MiB, at most ${most.toFixed(0)} MiB`
    proof.checkTimed('ten gigabytes leave no trace in memory', most - beforeMib <= GROWTH_MIB_MAX, grown)
  },
}

async function submit({ client }: VideoStand, prompt: string): Promise<string> {
  const { status, text } = await client.call('POST', '/videos', {
    body: { model: modelOf('token'), prompt, duration: 4 },
  })
  if (status !== 202) throw new Error(`${prompt}: ${status} ${text}`)
  return (JSON.parse(text) as { id: string }).id
}

/** @returns null when one of them never ends */
async function untilEnded({ store }: VideoStand, ids: readonly string[]): Promise<number | null> {
  const startedAt = performance.now()
  while (performance.now() - startedAt < ENDED_MS_MAX) {
    const open = new Set(
      (await readJobs(store.sql)).flatMap(({ id, state }) => (ENDINGS.has(state) ? [] : [id])),
    )
    if (!ids.some((id) => open.has(id))) return performance.now() - startedAt
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
  return null
}

async function judge(
  proof: Proof,
  { store, client, stand }: VideoStand,
  {
    wanted,
    words,
    endedMs,
  }: {
    readonly wanted: ReadonlyMap<string, string>
    readonly words: readonly string[]
    readonly endedMs: number | null
  },
): Promise<void> {
  const rows = new Map((await readJobs(store.sql)).map((row) => [row.id, row]))
  const ids = [...wanted.keys()]
  const wrong = ids.flatMap((id, nth) => {
    const row = rows.get(id)
    const state = row !== undefined && ENDINGS.has(row.state) ? row.state : 'open'
    return state === wanted.get(id) ? [] : [`${words[nth]} is ${row?.state} (${row?.error})`]
  })
  const seconds = ((endedMs ?? Number.NaN) / 1_000).toFixed(1)
  proof.check(
    'each job ends as it should',
    wrong.length === 0,
    `${ids.length - wrong.length} of ${ids.length} in ${seconds} s${some(wrong)}`,
  )
  const charged = ids.filter(
    (id) =>
      rows.get(id)?.usages !== (rows.get(id)?.state === 'completed' ? 1 : 0) ||
      Number(rows.get(id)?.charged_nano) < 0,
  )
  proof.check(
    'what was made is charged once at our price, and nothing else',
    charged.length === 0,
    `${charged.length} are not`,
  )
  const leaks: string[] = []
  for (const id of ids) {
    const { status, text } = await client.call('GET', `/videos/${id}`)
    const { unsigned_urls: _urls, ...reported } = JSON.parse(text) as Record<string, unknown>
    if (status !== 200 || /127\.0\.0\.1|Bearer|a fox|[?&]key=/.test(JSON.stringify(reported)))
      leaks.push(text.slice(0, 200))
  }
  proof.check(
    'what callers read holds no prompt, host or credential',
    leaks.length === 0,
    `${leaks.length}${some(leaks)}`,
  )
  proof.say(countOf([...rows.values()].map(({ state, error }) => `${state}: ${error}`)))
  const crashes = stand
    .output()
    .split('\n')
    .filter((line) => /child_ended|crash|fatal|uncaught/i.test(line))
  proof.check('no process ends', crashes.length === 0, crashes.slice(0, 2).join(' ') || 'none')
}

/** A server that must not be reached. */
async function startTrap(
  proof: Proof,
): Promise<{ readonly port: number; readonly connections: () => number }> {
  let count = 0
  const server = createServer((socket) => {
    count++
    socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  proof.after(async () => void server.close())
  return { port: (server.address() as AddressInfo).port, connections: () => count }
}

async function rssMib(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(/VmRSS:\s+(\d+)/.exec(text)?.[1] ?? 0) / 1_024
}

function same(some: readonly number[], others: readonly number[]): boolean {
  return [...some].sort().join() === [...others].sort().join()
}
