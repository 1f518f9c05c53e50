/** Receivers that fail half of all attempts, and runners that are killed. */
import { randomBytes } from 'node:crypto'
import { Secret } from '../../../src/schemas/vault/secret.ts'
import type { WebhookTiming } from '../../../src/server/runner/webhooks/sender.ts'
import { openDataKeys } from '../../../src/server/store/vault/data-keys.ts'
import { openStore, type Store } from '../../../src/server/store/base/open.ts'
import { createOrganization } from '../../../src/server/store/workspaces/organizations.ts'
import { countDeliveries } from '../../../src/server/store/webhooks/deliveries.ts'
import { openWebhookSecretRows } from '../../../src/server/store/webhooks/secrets.ts'
import { openKeyRing } from '../../../src/server/vault/key-ring.ts'
import { openRootKeys } from '../../../src/server/vault/root-keys.ts'
import { openWebhookSecrets } from '../../../src/server/vault/webhook-secrets.ts'
import { startAuthority } from '../../support/wire/certificate-authority.ts'
import { connected } from '../../support/wire/connected.ts'
import { must, present } from '../../support/must.ts'
import { openTestDatabase } from '../../support/stores/postgres.ts'
import { runVerb } from '../../support/operator/verbs.ts'
import { delivery, outboxed } from '../../support/webhooks/webhooks.ts'
import type { Program, Proof } from '../proof.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { startReceivers, type Receivers } from './receivers.ts'
import { startRunners, type Runners } from './runners.ts'

const [CALLBACKS, CALLBACKS_SHORT] = [2_000, 200]
const RUNNERS = 2
/** Deliveries that are written at once, and milliseconds between two such lots. */
const [LOT, LOT_MS] = [10, 250]
/** Milliseconds between two kills, besides the start of a new runner, and as much again by chance. */
const KILL_MS = 900
const DUPLICATES_MAX = 0.01
/**
 * Hours of the contract's schedule as fractions of a second. What measures the machine is compressed less: an
 * attempt that is given up while a busy machine still carries its answer arrives twice, as one of more than
 * 15 s would, and no kill is to blame.
 */
const TIMING: Partial<WebhookTiming> = {
  attemptMs: 5_000,
  leaseMs: 12_000,
  sweepMs: 50,
  pauseMs: 50,
  delaysMs: [50, 150, 300, 600, 900, 1_200, 1_200],
  retryAfterMsMax: 1_000,
}

export const program: Program = {
  text: '2,000 webhooks to receivers that fail half of all attempts, runners killed: delivered, or dead letters that replay delivers',
  async run(proof) {
    const stand = await openStand(proof)
    const count = proof.isShort ? CALLBACKS_SHORT : CALLBACKS
    const { receivers, store } = stand
    const runners = await startRunners(RUNNERS, stand.order)
    proof.after(() => runners.end())
    let [isOffered, kills] = [false, 0]
    const least = proof.isShort ? 2 : 20
    const offering = offer(stand, count, () => kills >= least)
    void offering.then(() => (isOffered = true))
    await killUntil(proof, runners, {
      reported: () => kills++,
      isDone: async () => isOffered && (await countDeliveries(store.sql)).waiting === 0,
    })
    await offering
    proof.say(
      `${kills} runners were killed; faults: ${Object.entries(receivers.faults)
        .map(([what, times]) => `${what} × ${times}`)
        .join(', ')}`,
    )
    proof.check('runners were killed', kills >= least, `${kills} with SIGKILL`)
    const dead = await judgeFirst(proof, stand, count)
    receivers.heal()
    const replayed = await stand.verb('webhooks', 'replay', '--dead', '--json')
    proof.check('`replay` takes every dead letter', replayed === `{"replayed":${dead}}\n`, replayed.trim())
    while ((await countDeliveries(store.sql)).waiting > 0) await pause(50)
    judgeAll(proof, receivers, count)
  },
}

interface Stand {
  readonly store: Store
  readonly workspaceId: string
  readonly receivers: Receivers
  readonly order: Parameters<typeof startRunners>[1]
  /** @returns what the verb printed */
  verb(...args: readonly string[]): Promise<string>
}

async function openStand(proof: Proof): Promise<Stand> {
  const scope = { teardown: (done: () => Promise<void> | void) => proof.after(async () => done()) }
  const { url } = await openTestDatabase(scope)
  const store = await connected(openStore({ url, poolMax: 2, applicationName: 'sluice-prove' }))
  proof.after(() => store.close())
  const { workspace } = must(await createOrganization(store, { name: 'o' }))
  const rootKey = randomBytes(32).toString('hex')
  const rootKeys = openRootKeys({ setting: new Secret(rootKey), file: null, dataDir: '/nowhere' })
  const keyRing = openKeyRing({ rootKeys, rows: openDataKeys(store) })
  const secrets = must(
    await openWebhookSecrets({ rows: openWebhookSecretRows(store), keyRing, randomBytes }).current(
      workspace.id,
    ),
  )
  const authority = startAuthority(scope)
  const receivers = await startReceivers({
    tls: authority.issue(['DNS:*.hooks.example']),
    secret: present(secrets[0]).text,
    random: (below) => proof.random(below),
  })
  proof.after(() => receivers.close())
  const folder = temporaryFolder(proof, 'webhooks')
  return {
    store,
    receivers,
    workspaceId: workspace.id,
    order: { databaseUrl: url, rootKey, ca: authority.root, timing: TIMING },
    async verb(...args) {
      const { stdout, stderr } = await runVerb(
        { DATABASE_URL: url, SLUICE_DATA: folder, SLUICE_ROOT_KEY: rootKey },
        args,
      )
      return stdout === '' ? stderr : stdout
    },
  }
}

/** As jobs that end: a few at a time, the last ones when enough runners were killed. */
async function offer(
  { store, workspaceId, receivers }: Stand,
  count: number,
  mayEnd: () => boolean,
): Promise<void> {
  for (let nth = 0; nth < count; nth += LOT) {
    while (nth + LOT >= count && !mayEnd()) await pause(LOT_MS)
    await outboxed(
      store,
      Array.from({ length: Math.min(LOT, count - nth) }, (_, of) =>
        delivery(workspaceId, { url: receivers.url(nth + of) }),
      ),
    )
    await pause(LOT_MS)
  }
}

/** Kills runners until `isDone`, and calls `reported` after each kill. */
async function killUntil(
  proof: Proof,
  runners: Runners,
  { reported, isDone }: { reported: () => void; isDone: () => Promise<boolean> },
): Promise<void> {
  for (;;) {
    await pause(KILL_MS)
    if (await isDone()) return
    if (await runners.kill(proof.random(RUNNERS), proof.random(KILL_MS))) reported()
  }
}

/** @returns dead letters */
async function judgeFirst(proof: Proof, { store, receivers, verb }: Stand, count: number): Promise<number> {
  const rows = await store.sql<
    { key: string; state: string; ended_at: Date }[]
  >`SELECT idempotency_key AS key, state, ended_at FROM webhook_deliveries`
  const delivered = rows.filter(({ state }) => state === 'delivered')
  const unseen = delivered.filter(({ key }) => (receivers.received.get(key)?.accepted ?? 0) === 0)
  const dead = rows.length - delivered.length
  proof.say(
    exposure(
      delivered.map(
        ({ key, ended_at: endedAt }) => endedAt.getTime() - (receivers.received.get(key)?.acceptedAtMs ?? 0),
      ),
    ),
  )
  proof.check(
    'every callback was delivered or is a dead letter',
    rows.length === count && unseen.length === 0,
    `${delivered.length} delivered, ${dead} dead, ${unseen.length} of the delivered unknown to their receiver`,
  )
  const listed = JSON.parse(
    await verb('webhooks', 'list', '--state', 'dead', '--limit', String(count), '--json'),
  ) as { data: readonly unknown[] }
  proof.check(
    'dead letters are visible',
    listed.data.length === dead,
    `webhooks list --state dead shows ${listed.data.length}`,
  )
  return dead
}

function judgeAll(proof: Proof, { received, unverified, faults }: Receivers, count: number): void {
  const all = [...received.values()]
  const attempts = all.reduce((sum, one) => sum + one.attempts, 0)
  const failed = Object.values(faults).reduce((sum, times) => sum + times, 0)
  const missing = count - all.filter(({ accepted }) => accepted > 0).length
  proof.check(
    'after the replay every callback has arrived',
    missing === 0,
    `${missing} of ${count} have not, ${attempts} attempts, ${failed} failed`,
  )
  const mixed = all.filter(({ ids, bodies }) => ids.size !== 1 || bodies.size !== 1).length
  proof.check('one id and identical bytes per delivery', mixed === 0, `${mixed} of ${all.length} differ`)
  proof.check(
    'every attempt verifies with both verifiers',
    unverified() === 0,
    `${unverified()} of ${attempts} do not`,
  )
  const duplicates = all.reduce((sum, { accepted }) => sum + Math.max(0, accepted - 1), 0)
  const found = `${duplicates} of ${count}: ${((100 * duplicates) / count).toFixed(2)} %`
  // A kill between an answer and its booking makes one: how often depends on how fast a machine is, and of a
  // short run on chance.
  const check = proof.isShort ? proof.checkTimed.bind(proof) : proof.check.bind(proof)
  check('at most 1 % duplicates', duplicates <= count * DUPLICATES_MAX, found)
}

/** Milliseconds between an answer and its booking: a runner that dies in them is the cause of a duplicate. */
function exposure(times: readonly number[]): string {
  const sorted = [...times].sort((a, b) => a - b)
  const at = (share: number): string => String(sorted[Math.floor(sorted.length * share)] ?? 0)
  const mean = sorted.reduce((sum, ms) => sum + ms, 0) / sorted.length
  return `from answer to booking: mean ${mean.toFixed(1)} ms, median ${at(0.5)}, p90 ${at(0.9)}, p99 ${at(0.99)}`
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
