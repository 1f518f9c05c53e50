/** Keys that are made, rotated and changed while their workspace is deleted, and calls that are under way. */
import t, { type Test } from 'tap'
import { workspaceAccount } from '../../../../src/schemas/money/accounts.ts'
import { createAccess } from '../../../../src/server/access/access.ts'
import { openKeyStore } from '../../../../src/server/store/keys/api-keys.ts'
import { createKey } from '../../../support/keys/make-keys.ts'
import { openEpochFeed } from '../../../../src/server/store/base/epoch-feed.ts'
import { openWorkspaces, removeWorkspace } from '../../../../src/server/store/lifecycle/open-workspaces.ts'
import type { Store } from '../../../../src/server/store/base/open.ts'
import { createOrganization } from '../../../../src/server/store/workspaces/organizations.ts'
import { createWorkspace } from '../../../../src/server/store/workspaces/workspaces.ts'
import { CLI } from '../../../support/audit/audit.ts'
import { openEmbeddings } from '../../../support/embeddings/embeddings-front.ts'
import { testHints } from '../../../support/stores/hints.ts'
import { openKeysFront, type KeysFront } from '../../../support/keys/keys-front.ts'
import { SILENT } from '../../../support/log.ts'
import { setLimit, turnTo } from '../../../support/money/money.ts'
import { must } from '../../../support/must.ts'
import { untilWaiting } from '../../../support/stores/lock-waiters.ts'
import { openTestStore, waitLong } from '../../../support/stores/postgres.ts'
import { answers } from '../../../support/embeddings/provider-behaviours.ts'
import { openRealSpend } from '../../../support/money/real-spend.ts'

waitLong()

const RACES = 4
const BY = { ...CLI, operation: 'test' }

interface Outcome {
  readonly status: number
  readonly type: string | undefined
  /** The key that it made. */
  readonly key: unknown
}

/** Changes to the keys of a workspace that race with its deletion. */
const MOVES: Readonly<
  Record<
    string,
    (front: KeysFront, place: { readonly slug: string; readonly hash: string }) => Promise<Outcome>
  >
> = {
  rotation: ({ call }, { hash }) =>
    reported(call('POST', `/keys/${hash}/rotate`, { body: { overlap_seconds: 60 } })),
  create: ({ call }, { slug }) =>
    reported(call('POST', '/keys', { body: { name: 'late', workspace_id: slug } })),
  change: ({ call }, { hash }) =>
    reported(call('PATCH', `/keys/${hash}`, { body: { limit: 2, disabled: false } })),
}

async function reported(answer: ReturnType<KeysFront['call']>): Promise<Outcome> {
  const { status, type, body } = await answer
  return { status, type, key: body['key'] }
}

const ALL_MOVES = Object.values(MOVES)

async function workspaceWithKey(front: KeysFront, slug: string) {
  const workspace = must(
    await createWorkspace(front.store, { organizationId: front.organizationId, name: slug, slug }),
  )
  const {
    data: { hash },
    key,
  } = await front.make({ workspace_id: slug })
  return { workspace, slug, hash, key }
}

/** Keys of a workspace that could still be used for a call. */
async function liveKeys({ sql }: Store, workspaceId: string): Promise<number> {
  return (await sql`SELECT 1 FROM api_keys WHERE workspace_id = ${workspaceId} AND revoked_at IS NULL`).length
}

t.test(
  'a rotation, a new key and a change that arrive while the workspace is being deleted get 404',
  async (t) => {
    const front = await openKeysFront(t)
    const { store, organizationId } = front
    for (const [name, move] of Object.entries(MOVES)) {
      const place = await workspaceWithKey(front, name)
      let late: Promise<Outcome | null> = Promise.resolve(null)
      await store.sql.begin(async (tx) => {
        must(
          await removeWorkspace(tx, {
            ref: { organizationId, reference: name },
            mayBeDefault: false,
            by: BY,
          }),
        )
        late = move(front, place)
        await untilWaiting(tx, 1)
      })
      const gone =
        name === 'create'
          ? { status: 404, type: 'workspace_unknown' }
          : { status: 404, type: 'api_key_unknown' }
      t.match(await late, gone, name)
      t.equal(await liveKeys(store, place.workspace.id), 0)
    }
    t.equal((await store.sql`SELECT 1 FROM account_limits`).length, 0)
  },
)

t.test(
  'a rotation, a new key and a change that started before the deletion of the workspace succeed, and end with it',
  async (t) => {
    const front = await openKeysFront(t)
    const { store, call, works } = front
    for (const [name, move] of Object.entries(MOVES)) {
      const place = await workspaceWithKey(front, name)
      let both: Promise<readonly Outcome[]> = Promise.resolve([])
      await store.sql.begin(async (tx) => {
        // Every change counts the epoch on as its last step.
        await tx`SELECT 1 FROM epoch FOR UPDATE`
        const early = move(front, place)
        await untilWaiting(tx, 1)
        both = Promise.all([early, reported(call('DELETE', `/workspaces/${name}`))])
        await untilWaiting(tx, 2)
      })
      const [early, deletion] = await both
      t.ok(early !== undefined && [200, 201].includes(early.status), name)
      t.equal(deletion?.status, 200)
      t.equal(await liveKeys(store, place.workspace.id), 0)
      for (const key of [place.key, early?.key]) if (typeof key === 'string') t.equal(await works(key), 401)
    }
  },
)

t.test(
  'a deletion and racing changes of keys all end, in any order, and no key outlives the workspace',
  async (t) => {
    const front = await openKeysFront(t)
    for (let race = 0; race < RACES; race++) {
      const place = await workspaceWithKey(front, `team-${race}`)
      const moves = [...ALL_MOVES, ...ALL_MOVES].map((move) => move(front, place))
      const [deletion, ...others] = await Promise.all([
        reported(front.call('DELETE', `/workspaces/${place.slug}`)),
        ...moves,
      ])
      t.equal(deletion.status, 200)
      t.same(
        others.filter(({ status }) => ![200, 201, 400, 404].includes(status)),
        [],
      )
      t.equal(await liveKeys(front.store, place.workspace.id), 0)
      for (const { key } of [place, ...others])
        if (typeof key === 'string') t.equal(await front.works(key), 401)
    }
  },
)

t.test(
  'running calls are answered and charged when their workspace is deleted, and later calls are refused',
  async (t) => {
    const { call, first, remove, spend, account } = await payingFront(t)
    t.equal((await call()).status, 200)
    let answerNow: () => void = () => undefined
    first.script((exchange) => void (answerNow = () => answers()(exchange)))
    const underWay = call()
    await first.arrived(2)
    await remove()
    const late = await call()
    t.match([late.status, late.body.error?.metadata['error_type']], [401, 'key_unknown'])
    answerNow()
    t.match(await underWay, { status: 200, body: { usage: { cost: 0.000_004 } } })
    t.equal(first.calls.length, 2)
    const { rows, leases, imbalances } = await spend.books()
    t.same(rows, [
      ['usage', 4_000, 'first'],
      ['usage', 4_000, 'first'],
    ])
    t.same([leases, imbalances, await account()], [0, [], 8_000])
  },
)

/** A front with a key whose workspace has a budget, and is not the only one. */
async function payingFront(t: Test) {
  const store = await openTestStore(t, 6)
  // The day that it counts does not end meanwhile.
  await turnTo(store.sql, '2024-02-28')
  const { organization } = must(await createOrganization(store, { name: 'o' }))
  const workspace = must(
    await createWorkspace(store, { organizationId: organization.id, name: 'Team', slug: 'team' }),
  )
  const request = { organizationId: organization.id, workspaceId: workspace.id } as const
  const { key } = must(await createKey(store, request, CLI))
  const accountId = workspaceAccount(workspace.id)
  await setLimit(store.sql, accountId, 'daily', 1e9)
  const hints = testHints()
  const feed = openEpochFeed({ store, hints, log: SILENT, pollMs: 60_000 })
  t.teardown(() => feed.close())
  while (!(await feed.poll())) continue
  const spend = await openRealSpend(t, store, feed)
  const access = createAccess({ keys: openKeyStore(store), feed, graceMs: 60_000, now: Date.now })
  const front = await openEmbeddings(t, { spend, access })
  const workspaces = openWorkspaces(store, hints.publish)
  return {
    ...front,
    spend,
    call: () => front.post({ model: 'acme/one', input: 'one two three' }, { authorization: `Bearer ${key}` }),
    remove: async () =>
      must(await workspaces.remove({ organizationId: organization.id, reference: 'team' }, false, BY)),
    account: async () =>
      Number(
        (await store.sql`SELECT daily_spent_nano FROM accounts WHERE id = ${accountId}`)[0]?.[
          'daily_spent_nano'
        ],
      ),
  }
}
