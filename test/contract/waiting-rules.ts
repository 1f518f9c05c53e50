/** Time is not an input of tests: they wait by `until` and `still` of support/wait.ts, never for a time. */
import type { SourceFile } from '../support/source.ts'

const ABSENCE = 'what must not happen is looked for over a span'
const STALLS = 'a peer or a client that stalls, or acts late, on purpose'
const LATER = 'something ends while the call under test is on its way, which no event tells from outside'
const TIMERS = 'timers of the product, the loop or the server library are the subject'
const LOAD = 'a generator of load, or a test of its pace'
const BOUND = 'the bound of a wait for a process or a server'

/** Files, and folders with an end of `/`, that let time pass, each with its reason. */
export const MAY_PAUSE: Readonly<Record<string, string>> = {
  'test/support/wait.ts': 'the helper itself',
  'test/prove/': 'programs of load and of faults at random moments; what is timed is only shown by the suite',
  'test/support/load/': LOAD,
  'test/bench/delayed-ack.test.ts': LOAD,
  'test/bench/transfers/burner.test.ts': LOAD,
  'test/bench/measure.test.ts': STALLS,
  'test/bench/latency/steps.test.ts': STALLS,
  'test/bench/start/timed.test.ts': STALLS,
  'test/bench/suite/run.test.ts': ABSENCE,
  'test/support/embeddings/mock-provider.ts': STALLS,
  'test/support/files/s3.ts': STALLS,
  'test/support/nodes/spawned.ts': BOUND,
  'test/support/nodes/pty.ts': BOUND,
  'test/readme/session.ts': BOUND,
  'test/support/nodes/thread-breaker.ts': 'a debugger that takes messages does not tell when a loop hangs',
  'test/support/stores/postgres-keeper.ts': BOUND,
  'test/support/stores/postgres.ts': BOUND,
  'test/support/stores/lost-transactions.ts': LATER,
  'test/server/cli/parts/verbs.test.ts': ABSENCE,
  'test/server/egress/egress.test.ts': LATER,
  'test/server/egress/exchange.test.ts': STALLS,
  'test/server/egress/long-streams.test.ts': STALLS,
  'test/server/files/faults.test.ts': LATER,
  'test/server/http/body/body.test.ts': ABSENCE,
  'test/server/http/call/loop-share.test.ts': TIMERS,
  'test/server/http/drain.test.ts': TIMERS,
  'test/server/http/exchange.test.ts': STALLS,
  'test/server/http/framing.test.ts': STALLS,
  'test/server/http/pipelining.test.ts': TIMERS,
  'test/server/http/reply/content.test.ts': ABSENCE,
  'test/server/http/timers.test.ts': TIMERS,
  'test/server/journal/recovery.test.ts': TIMERS,
  'test/server/main/runner.test.ts': LATER,
  'test/server/observe/live-reader.test.ts': TIMERS,
  'test/server/observe/log.test.ts': TIMERS,
  'test/server/observe/metrics.test.ts': TIMERS,
  'test/server/operations/egress/leaving.test.ts': STALLS,
  'test/server/operations/embeddings/leaving.test.ts': STALLS,
  'test/server/redis/video-views.test.ts': STALLS,
  'test/server/runner/webhooks/sender.test.ts': STALLS,
  'test/server/storage/s3.test.ts': STALLS,
  'test/server/store/base/lost-connections.test.ts': LATER,
  'test/server/store/base/open.test.ts': ABSENCE,
  'test/server/store/files/files.test.ts': 'ids of one millisecond have no order',
  'test/server/supervisor/admin-port/live-feed.test.ts': ABSENCE,
  'test/server/supervisor/fleet/fleet.test.ts': ABSENCE,
  'test/server/supervisor/postgres/embedded-postgres.test.ts': LATER,
  'test/server/upstream/files/sending.test.ts': STALLS,
  'test/server/upstream/videos/clip-download.test.ts': LATER,
  'test/tools/tap-domain.test.ts': 'errors of timers are the subject',
  'test/workers/sessions/bounds.test.ts': LATER,
}

const PAUSE =
  /(?<![.\w])(?:setTimeout|sleep|pause)\((?!\))|import \{[^}]*\bsetTimeout\b[^}]*\} from 'node:timers/

/** Lines of tests that let time pass, outside of the files that may. */
export function pauses(
  files: readonly SourceFile[],
  allowed: Readonly<Record<string, string>> = MAY_PAUSE,
): readonly string[] {
  const others = files.filter(({ path }) => path.startsWith('test/') && entryOf(path, allowed) === null)
  return others.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, at) => (PAUSE.test(line) ? [`${path}:${at + 1} ${line.trim()}`] : [])),
  )
}

/** Entries whose files let no time pass. */
export function needless(files: readonly SourceFile[]): readonly string[] {
  const used = new Set(
    files
      .filter(({ path, text }) => path.startsWith('test/') && PAUSE.test(text))
      .map(({ path }) => entryOf(path, MAY_PAUSE)),
  )
  return Object.keys(MAY_PAUSE).filter((entry) => !used.has(entry))
}

function entryOf(path: string, allowed: Readonly<Record<string, string>>): string | null {
  const fits = (entry: string): boolean => (entry.endsWith('/') ? path.startsWith(entry) : path === entry)
  return Object.keys(allowed).find(fits) ?? null
}
