import { Option, type Command } from 'commander'
import { KEYS_PAGE } from '../../../schemas/keys/key-limits.ts'
import type { ApiKeys, ManagedKey } from '../../ports/keys/api-keys.ts'
import {
  createInternKey,
  createKey,
  revokeKey,
  type CreatedKey,
  type KeyInput,
} from '../../store/keys/api-keys.ts'
import { frontsAt } from '../../store/nodes/fronts.ts'
import type { Store } from '../../store/base/open.ts'
import { findOrganization } from '../../store/workspaces/organizations.ts'
import { findWorkspace } from '../../store/base/find-workspace.ts'
import { callLimitsFrom } from '../parts/call-limit-options.ts'
import { nameOf, need, withDatabase, type DatabaseHandle } from '../parts/database.ts'
import { addGet, addRotate, addUpdate, KEY_TEXT, keysOf } from './key-changes.ts'
import {
  addLimitOptions,
  allowedModelsOf,
  burstFrom,
  expiryOf,
  limitsOf,
  needKey,
  rateOf,
  scopesOf,
  warnOfModels,
  type LimitOptions,
} from './key-options.ts'
import { tableOf, wireOf } from './key-text.ts'
import { idOf } from '../parts/reference.ts'
import { addVerb, CliFailure, print } from '../parts/verb.ts'

/** Milliseconds that `--wait` waits for live fronts. */
const WAIT_MS_MAX = 30_000
/** Milliseconds between two looks at live fronts. */
const LOOK_MS = 20

interface CreateOptions extends LimitOptions {
  readonly json?: boolean
  readonly name: string
  readonly kind: KeyInput['kind'] | 'intern'
  readonly intern?: string
  readonly workspace?: string
  readonly organization?: string
  readonly expires?: Date
  readonly creator?: string
  readonly user?: string
}

/** `keys create|list|get|update|rotate|revoke`. */
export function addKeyVerbs(program: Command): void {
  const group = program.command('keys').description('API keys')
  addCreate(group)
  addList(group)
  addGet(group)
  addUpdate(group)
  addRotate(group)
  addVerb(group, 'revoke', 'delete a key permanently')
    .alias('delete')
    .argument('<key>', KEY_TEXT)
    .option('--wait', 'wait until every running front process refuses the key')
    .action((named: string, options: { json?: boolean; wait?: boolean }) =>
      withDatabase(async ({ store, publish, by }) => {
        const hash = await idOf(store.sql, 'key', named)
        const change = need(await revokeKey(store, hash, by), { name: hash, list: 'keys list' })
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

interface ListOptions {
  readonly json?: boolean
  readonly organization?: string
  readonly workspace?: string
}

function addList(group: Command): void {
  addVerb(group, 'list', 'list keys, newest first; their values are not shown')
    .option('--organization <ref>', 'organization id or name; default: all organizations')
    .option('--workspace <ref>', 'workspace id or slug; default: all workspaces')
    .action((options: ListOptions) =>
      withDatabase(async (database) => {
        const { organization, workspace } = options
        const organizationId =
          organization === undefined
            ? null
            : need(await findOrganization(database.store.sql, organization)).id
        const keys = await allKeys(keysOf(database), { organizationId, workspace: workspace ?? null })
        print(options, { data: keys.map(wireOf) }, tableOf(keys))
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

function addCreate(group: Command): void {
  const verb = addVerb(group, 'create', 'create a key and print it once')
    .requiredOption('--name <name>', 'name of the key', nameOf)
    .addOption(
      new Option('--kind <kind>', 'kind of key')
        .choices(['inference', 'management', 'intern'])
        .makeOptionMandatory(),
    )
    .option('--workspace <ref>', 'workspace id or slug, for inference keys; default: the default workspace')
    .option('--intern <ref>', 'name or id of the intern, for intern keys')
    .option('--organization <ref>', 'organization id or name; optional if there is only one')
    .option('--expires <instant>', 'expiry (ISO 8601 with an offset); default: never', expiryOf)
    .option('--creator <id>', 'id of the user who creates the key')
    .option('--user <id>', 'id of the external user who owns the key')
  addLimitOptions(verb).action((options: CreateOptions, command: Command) => {
    const mistake = mistakeIn(options)
    if (mistake !== null) command.error(`error: ${mistake}`, { exitCode: 2 })
    return withDatabase(async (database) => {
      const { apiKey, key, change } = await made(database, options)
      await database.publish(change)
      print(options, { key, ...wireOf(apiKey) }, `${key}\nhash ${apiKey.hash}\nThe key is not shown again.`)
      warnOfModels(allowedModelsOf(options))
    })
  })
}

/** The mistake in the options of a kind, or null. */
function mistakeIn({ kind, intern, workspace, scopes }: CreateOptions): string | null {
  if (kind === 'management' && scopes !== undefined)
    return 'only inference and intern keys have scopes: remove --scopes'
  if (kind === 'intern' && intern === undefined) return 'an intern key needs an intern: add --intern <ref>'
  if (kind !== 'intern' && intern !== undefined) return `--intern requires --kind intern, not ${kind}`
  if (kind === 'inference' || workspace === undefined) return null
  return kind === 'intern'
    ? "an intern key acts in its intern's workspace: remove --workspace"
    : 'a management key belongs to an organization: remove --workspace'
}

async function made(
  { store, by, rateLimitRpm: byDefault }: DatabaseHandle,
  options: CreateOptions,
): Promise<CreatedKey> {
  const { kind, intern, organization, creator = null, user = null } = options
  const rpm = rateOf(options)
  const traits = {
    ...limitsOf(options),
    ...callLimitsFrom(options),
    rateLimitBurst: burstFrom(options) ?? null,
    allowedModels: allowedModelsOf(options) ?? null,
    scopes: scopesOf(options) ?? null,
    creatorUserId: creator,
    externalUser: user,
  }
  const input = {
    name: options.name,
    rateLimitRpm: rpm === undefined ? byDefault : rpm,
    expiresAt: options.expires ?? null,
    traits,
  }
  if (kind !== 'intern')
    return needKey(await createKey(store, { ...input, kind, ...(await ownerOf(store, options)) }, by))
  const organizationId =
    organization === undefined ? null : need(await findOrganization(store.sql, organization)).id
  const internId = await idOf(store.sql, 'intern', intern ?? '')
  return needKey(await createInternKey(store, { ...input, internId, organizationId }, by))
}

async function ownerOf(
  store: Store,
  options: CreateOptions,
): Promise<Pick<KeyInput, 'organizationId' | 'workspaceId'>> {
  const mayBeAny = options.organization === undefined && options.workspace !== undefined
  const organizationId = mayBeAny
    ? null
    : need(await findOrganization(store.sql, options.organization ?? null)).id
  if (options.kind === 'management' && organizationId !== null) return { organizationId, workspaceId: null }
  const workspace = need(await findWorkspace(store.sql, options.workspace ?? null, organizationId))
  return { organizationId: workspace.organizationId, workspaceId: workspace.id }
}

/**
 * Waits until all live fronts have applied a change. @returns the number of fronts that fell silent without
 * removing their row. Throws CliFailure when live fronts do not apply the change in time.
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
