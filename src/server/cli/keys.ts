import { InvalidArgumentError, Option, type Command } from 'commander'
import { RATE_LIMIT_RPM_MAX } from '../../schemas/limits.ts'
import { createInternKey, createKey, listKeys, revokeKey, type ApiKey, type CreatedKey, type KeyWish } from '../store/api-keys.ts'
import { frontsAt } from '../store/fronts.ts'
import type { Store } from '../store/open.ts'
import { findOrganization } from '../store/organizations.ts'
import { findWorkspace } from '../store/workspaces.ts'
import { nameOf, need, withAdmin, type Admin } from './admin.ts'
import { addVerb, CliFailure, print, table } from './verb.ts'

/** Milliseconds that `--wait` waits for live fronts, and between two looks at them. */
const WAIT_MS_MAX = 30_000
const LOOK_MS = 20

interface CreateOptions {
  readonly json?: boolean
  readonly name: string
  readonly kind: KeyWish['kind'] | 'intern'
  readonly intern?: string
  readonly workspace?: string
  readonly organization?: string
  readonly rpm?: number
  readonly expires?: Date
}

/** `keys create|list|revoke`. */
export function addKeyVerbs(program: Command): void {
  const group = program.command('keys').description('API keys')
  addCreate(group)
  addVerb(group, 'list', 'list the keys, newest first; never the keys themselves')
    .option('--organization <ref>', 'id or name; left out: of all organizations')
    .action((options: { json?: boolean; organization?: string }) => withAdmin(async ({ store }) => {
      const { organization } = options
      const id = organization === undefined ? null : need(await findOrganization(store.sql, organization)).id
      const keys = need(await listKeys(store, id))
      const rows = keys.map((key) => [key.hash, key.kind, key.name, key.expiresAt?.toISOString() ?? 'never',
        key.rateLimitRpm === null ? 'none' : String(key.rateLimitRpm), key.workspaceId ?? `organization ${key.organizationId}`])
      print(options, { data: keys.map(wireOf) }, table([['HASH', 'KIND', 'NAME', 'EXPIRES', 'RPM', 'WORKSPACE'], ...rows]))
    }))
  addVerb(group, 'revoke', 'end a key for good')
    .argument('<hash>', 'hash of the key, as `keys list` shows it', hashOf)
    .option('--wait', 'return when every live front has obeyed')
    .action((hash: string, options: { json?: boolean; wait?: boolean }) => withAdmin(async ({ store, publish, by }) => {
      const change = need(await revokeKey(store, hash, by))
      await publish(change)
      const silent = options.wait === true ? await untilObeyed(store, change.n) : null
      if (silent !== null && silent > 0) {
        process.stderr.write(`warning: ${silent} front(s) fell silent without leaving; if one still runs, it obeys when it reaches the store again\n`)
      }
      print(options, { hash, revoked: true, epoch: change.n, ...(silent === null ? {} : { silent_fronts: silent }) }, `revoked ${hash}`)
    }))
}

function addCreate(group: Command): void {
  addVerb(group, 'create', 'make a key, and print it this once')
    .requiredOption('--name <name>', 'its name', nameOf)
    .addOption(new Option('--kind <kind>', 'what it may call').choices(['inference', 'management', 'intern']).makeOptionMandatory())
    .option('--workspace <ref>', 'id or slug, for inference keys; left out: the workspace `default`')
    .option('--intern <id>', 'id of the intern, for intern keys')
    .option('--organization <ref>', 'id or name; may be left out when there is one')
    .option('--rpm <count>', 'requests a minute at most; left out: SLUICE_RATE_LIMIT_RPM, or no limit', rpmOf)
    .option('--expires <instant>', 'ISO 8601 with an offset; left out: never', instantOf)
    .action((options: CreateOptions, command: Command) => {
      const mistake = mistakeIn(options)
      if (mistake !== null) command.error(`error: ${mistake}`, { exitCode: 2 })
      return withAdmin(async (admin) => {
        const { apiKey, key, change } = await made(admin, options)
        await admin.publish(change)
        print(options, { key, ...wireOf(apiKey) }, `${key}\nhash ${apiKey.hash}\nThe key is not shown again.`)
      })
    })
}

/** What each kind needs beside its name. */
function mistakeIn({ kind, intern, workspace }: CreateOptions): string | null {
  if (kind === 'intern' && intern === undefined) return 'an intern key needs its intern: --intern <id>'
  if (kind !== 'intern' && intern !== undefined) return `--intern goes with --kind intern, not with ${kind}`
  if (kind === 'inference' || workspace === undefined) return null
  return kind === 'intern'
    ? "an intern key acts in its intern's workspace: leave --workspace out"
    : 'a management key belongs to an organization, not to a workspace'
}

async function made({ store, by, rateLimitRpm: byDefault }: Admin, options: CreateOptions): Promise<CreatedKey> {
  const { kind, intern, organization } = options
  const wish = { name: options.name, rateLimitRpm: options.rpm ?? byDefault, expiresAt: options.expires ?? null }
  if (kind !== 'intern') return need(await createKey(store, { ...wish, kind, ...(await ownerOf(store, options)) }, by))
  const organizationId = organization === undefined ? null : need(await findOrganization(store.sql, organization)).id
  return need(await createInternKey(store, { ...wish, internId: intern ?? '', organizationId }, by))
}

async function ownerOf(store: Store, options: CreateOptions): Promise<Pick<KeyWish, 'organizationId' | 'workspaceId'>> {
  const mayBeAny = options.organization === undefined && options.workspace !== undefined
  const organizationId = mayBeAny ? null : need(await findOrganization(store.sql, options.organization ?? null)).id
  if (options.kind === 'management' && organizationId !== null) return { organizationId, workspaceId: null }
  const workspace = need(await findWorkspace(store.sql, options.workspace ?? 'default', organizationId))
  return { organizationId: workspace.organizationId, workspaceId: workspace.id }
}

/** @returns how many fronts fell silent without taking their row away. Throws CliFailure when live ones do not obey. */
async function untilObeyed(store: Store, epoch: number): Promise<number> {
  const endsAt = performance.now() + WAIT_MS_MAX
  for (;;) {
    const { behind, silent } = await frontsAt(store.sql, epoch)
    if (behind === 0) return silent
    if (performance.now() > endsAt) throw new CliFailure(`the key is revoked, but ${behind} live front(s) have not reported it in ${WAIT_MS_MAX / 1000} s`)
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}

function rpmOf(text: string): number {
  const count = Number(text)
  if (!/^\d+$/.test(text) || count < 1 || count > RATE_LIMIT_RPM_MAX) throw new InvalidArgumentError(`It takes a whole number from 1 to ${RATE_LIMIT_RPM_MAX}.`)
  return count
}

function instantOf(text: string): Date {
  const instant = new Date(text)
  if (!/T.*(Z|[+-]\d\d:\d\d)$/i.test(text) || Number.isNaN(instant.getTime())) {
    throw new InvalidArgumentError('It takes an instant like 2027-01-31T12:00:00Z.')
  }
  if (instant.getTime() <= Date.now()) throw new InvalidArgumentError('This instant has passed.')
  return instant
}

function hashOf(text: string): string {
  if (!/^[0-9a-f]{64}$/.test(text)) throw new InvalidArgumentError('It takes the 64 hexadecimal digits of a key\'s hash.')
  return text
}

function wireOf(key: ApiKey): object {
  return {
    hash: key.hash,
    name: key.name,
    kind: key.kind,
    organization_id: key.organizationId,
    workspace_id: key.workspaceId,
    intern_id: key.internId,
    rate_limit_rpm: key.rateLimitRpm,
    disabled: key.isDisabled,
    expires_at: key.expiresAt?.toISOString() ?? null,
    created_at: key.createdAt.toISOString(),
  }
}
