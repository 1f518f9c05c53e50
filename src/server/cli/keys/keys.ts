import { Option, type Command } from 'commander'
import { KEYS_PAGE } from '../../../schemas/keys/key-limits.ts'
import { usdOfNano } from '../../../schemas/money/costs.ts'
import { keyAnswer } from '../../operations/keys/key-answers.ts'
import { descriptionOf, type KeyDescription } from '../../operations/keys/create-key.ts'
import { rotationOf } from '../../operations/keys/rotate-key.ts'
import { changesOf } from '../../operations/keys/update-key.ts'
import type { ApiKeys, KeyRef, ManagedKey, MadeKey } from '../../ports/keys/api-keys.ts'
import { openApiKeys } from '../../store/keys/api-key-management.ts'
import { revokeKey } from '../../store/keys/api-keys.ts'
import { frontsAt } from '../../store/nodes/fronts.ts'
import type { Store } from '../../store/base/open.ts'
import { need, withDatabase, type DatabaseHandle } from '../parts/database.ts'
import {
  inOrganization,
  organizationIfAny,
  organizationOf,
  workspaceOf,
  type PlaceOptions,
} from '../parts/places.ts'
import { CREATE, ROTATE, UPDATE, warnOfModels } from './key-options.ts'
import { idOf } from '../parts/reference.ts'
import { addVerb, CliFailure, print, printList, table, type Cells, type Printing } from '../parts/verb.ts'

/** Milliseconds for which `--wait` waits for live fronts. */
const WAIT_MS_MAX = 30_000
/** Milliseconds between two checks of live fronts. */
const LOOK_MS = 20

/** `keys create|list|get|update|rotate|revoke`. */
export function addTo(program: Command): void {
  const group = program.command('keys').description('API keys')
  addCreate(group)
  addList(group)
  ofKey(group, 'get', 'show a key with its limits and usage').action((named: string, options: Printing) =>
    withDatabase(async (database) => {
      const { ref, lookup } = await refOf(database, named)
      const key = need(await keysOf(database).get(ref), lookup)
      print(options, wireOf(key), linesOf(key))
    }),
  )
  addUpdate(group)
  addRotate(group)
  addRevoke(group)
}

/** Keys of every organization: a hash identifies one key. */
export function keysOf({ store, publish, rateLimitRpm }: DatabaseHandle): ApiKeys {
  return openApiKeys({ store, publish, rateLimitRpm })
}

function ofKey(group: Command, name: string, description: string): Command {
  return addVerb(group, name, description).argument('<key>', 'key name, hash or hash prefix')
}

async function refOf({ store }: Pick<DatabaseHandle, 'store'>, named: string) {
  const hash = await idOf(store.sql, 'key', named)
  const ref: KeyRef = { organizationId: null, hash }
  return { ref, lookup: { name: hash, list: 'keys list' } }
}

function addRevoke(group: Command): void {
  ofKey(group, 'revoke', 'delete a key permanently')
    .alias('delete')
    .option('--wait', 'wait until every running front process refuses the key')
    .action((named: string, options: Printing & { wait?: boolean }) =>
      withDatabase(async ({ store, publish, by }) => {
        const {
          ref: { hash },
          lookup,
        } = await refOf({ store }, named)
        const change = need(await revokeKey(store, hash, by), lookup)
        await publish(change)
        const silent = options.wait === true ? await untilApplied(store, change.n) : null
        if (silent !== null && silent > 0) {
          process.stderr.write(
            `warning: ${silent} front process(es) stopped responding without a shutdown; ` +
              'if these processes still run, they refuse the key once they can reach the database again\n',
          )
        }
        print(
          options,
          { hash, revoked: true, epoch: change.n, ...(silent === null ? {} : { silent_fronts: silent }) },
          `revoked ${hash}`,
        )
      }),
    )
}

function addList(group: Command): void {
  inOrganization(addVerb(group, 'list', 'list keys, newest first; their values are not shown'), 'all')
    .option('--workspace <ref>', 'workspace id or slug; default: all workspaces')
    .action((options: PlaceOptions) =>
      withDatabase(async (database) => {
        const { workspace = null } = options
        const organizationId = await organizationIfAny(database, options)
        const keys = await allKeys(keysOf(database), { organizationId, workspace })
        printList(options, keys, wireOf, [HEADS, cellsOf])
      }),
    )
}

async function allKeys(
  keys: ApiKeys,
  place: { readonly organizationId: string | null; readonly workspace: string | null },
): Promise<readonly ManagedKey[]> {
  const all: ManagedKey[] = []
  for (;;) {
    const page = need(await keys.list({ ...place, includesDisabled: true, offset: all.length }))
    all.push(...page)
    if (page.length < KEYS_PAGE) return all
  }
}

type CreateOptions = PlaceOptions & { readonly user?: string }

function addCreate(group: Command): void {
  const verb = inOrganization(
    CREATE.addTo(addVerb(group, 'create', 'create a key and print it once')),
    'only',
  )
  verb
    .option('--user <id>', 'id of the external user who owns the key')
    .action((options: CreateOptions, command: Command) => {
      const { user } = options
      const body = { ...CREATE.from(options), ...(user !== undefined && { external: { user } }) }
      const described = CREATE.usable(descriptionOf(body), command)
      return withDatabase(async (database) => {
        const { apiKey, key } = await created(database, described, options)
        print(options, { key, ...wireOf(apiKey) }, `${key}\nhash ${apiKey.hash}\nThe key is not shown again.`)
        warnOfModels(body.allowed_models)
      })
    })
}

async function created(
  database: DatabaseHandle,
  described: KeyDescription,
  options: CreateOptions,
): Promise<MadeKey> {
  const owner = await ownerOf(database, described, options)
  const by = { ...database.by, operation: 'cli.keys-create' }
  return need(CREATE.named(await keysOf(database).create({ ...described, ...owner }, by)))
}

/** A workspace's id or slug may name its organization. */
async function ownerOf(database: DatabaseHandle, { kind, internId }: KeyDescription, options: CreateOptions) {
  const { workspace } = options
  if (internId !== null) {
    const id = await idOf(database.store.sql, 'intern', internId)
    return { organizationId: await organizationIfAny(database, options), workspace: null, internId: id }
  }
  if (kind === 'management')
    return { organizationId: await organizationOf(database, options), workspace: null }
  const organization =
    workspace === undefined ? await organizationOf(database, options) : options.organization
  const { organizationId, id } = await workspaceOf(database, workspace, { organization })
  return { organizationId, workspace: id }
}

function addUpdate(group: Command): void {
  const verb = UPDATE.addTo(ofKey(group, 'update', 'change a key on all nodes')).addOption(
    new Option('--state <on|off>', 'off: refuse calls with the key until the key is on again').choices([
      'on',
      'off',
    ]),
  )
  verb.action((named: string, options: Printing & { readonly state?: 'on' | 'off' }, command: Command) => {
    const { state } = options
    const changes = changesOf({
      ...UPDATE.from(options),
      ...(state !== undefined && { disabled: state === 'off' }),
    })
    if (Object.keys(changes).length === 0)
      command.error('error: give at least one option to change; see --help', { exitCode: 2 })
    return withDatabase(async (database) => {
      const by = { ...database.by, operation: 'cli.keys-update' }
      const { ref, lookup } = await refOf(database, named)
      const key = need(UPDATE.named(await keysOf(database).update(ref, changes, by)), lookup)
      print(options, wireOf(key), linesOf(key))
      warnOfModels(changes.allowedModels)
    })
  })
}

function addRotate(group: Command): void {
  const verb = ofKey(
    group,
    'rotate',
    'replace a key: create a new one, print it once, and keep the old one working for a while',
  )
  ROTATE.addTo(verb).action((named: string, options: Printing) =>
    withDatabase(async (database) => {
      const by = { ...database.by, operation: 'cli.keys-rotate' }
      const rotation = need(rotationOf(ROTATE.from(options)))
      const { ref, lookup } = await refOf(database, named)
      const { apiKey, key, previous } = need(await keysOf(database).rotate(ref, rotation, by), lookup)
      const endsAt = previous.expiresAt.toISOString()
      print(
        options,
        { key, ...wireOf(apiKey), previous: { hash: previous.hash, expires_at: endsAt } },
        `${key}\nhash ${apiKey.hash}\nThe key is not shown again. The old key works until ${endsAt}.`,
      )
    }),
  )
}

/**
 * Waits until all live fronts have applied a change. @returns the number of fronts that stopped sending
 * heartbeats without removing their row. Throws CliFailure when live fronts do not apply the change in time.
 */
async function untilApplied(store: Store, epoch: number): Promise<number> {
  const endsAt = performance.now() + WAIT_MS_MAX
  for (;;) {
    const { behind, silent } = await frontsAt(store.sql, epoch)
    if (behind === 0) return silent
    if (performance.now() > endsAt)
      throw new CliFailure(
        `the key is revoked, but ${behind} running front process(es) did not confirm this change within ${WAIT_MS_MAX / 1000} s`,
      )
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}

/** A key for scripts: in the form of the API, with its owner. */
function wireOf(key: ManagedKey): object {
  return {
    ...keyAnswer(key),
    organization_id: key.organizationId,
    workspace_id: key.workspaceId,
    expires_at: key.expiresAt?.toISOString() ?? null,
  }
}

const HEADS = ['NAME', 'KIND', 'STATE', 'USED', 'LIMIT', 'RPM', 'BURST', 'EXPIRES', 'WORKSPACE', 'HASH']

function cellsOf(key: ManagedKey): Cells {
  const isFree = key.rateLimitRpm === null
  return [
    key.name,
    key.kind,
    key.isDisabled ? 'disabled' : 'enabled',
    usd(key.spent.lifetime),
    limitOf(key),
    key.rateLimitRpm ?? 'none',
    isFree ? 'none' : (key.rateLimitBurst ?? 'default'),
    key.expiresAt ?? 'never',
    key.workspaceId ?? `organization ${key.organizationId}`,
    key.hash,
  ]
}

/** All properties of one key, one per line. */
function linesOf(key: ManagedKey): string {
  const lines = Object.entries(wireOf(key)).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(' ') : String(value ?? 'none'),
  ])
  return table(lines)
}

function limitOf({ limitNano, limitReset }: ManagedKey): string {
  return limitNano === null ? 'none' : `${usd(limitNano)} ${limitReset ?? 'lifetime'}`
}

/** USD in plain digits without a power of ten: people check small amounts here. */
function usd(nano: bigint): string {
  return usdOfNano(nano)
    .toFixed(9)
    .replace(/\.?0+$/, '')
}
