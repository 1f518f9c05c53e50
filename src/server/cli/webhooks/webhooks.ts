import { InvalidArgumentError, Option, type Command } from 'commander'
import { DELIVERY_STATES, type DeliveryState } from '../../../schemas/webhooks/webhook-deliveries.ts'
import { WEBHOOK_OVERLAP_MS_MAX } from '../../../schemas/webhooks/webhook-limits.ts'
import type { WebhookSecret } from '../../ports/webhooks/webhooks.ts'
import { deliveryWire } from '../../operations/operator/admin-answers.ts'
import type { DeliveryRecord } from '../../ports/operator/admin.ts'
import { listDeliveries } from '../../store/operator/deliveries.ts'
import { replayDeliveries } from '../../store/webhooks/dead-letters.ts'
import { need, remedyOf, withDatabase } from '../parts/database.ts'
import { inOrganization, ofWorkspace, workspaceOf, type PlaceOptions } from '../parts/places.ts'
import { idOf } from '../parts/reference.ts'
import { addVerb, CliFailure, countOf, print, printList, type Cells } from '../parts/verb.ts'
import { ownWebhookSecrets, shownSecrets } from './shown-secrets.ts'

/** `webhooks list|replay` and `webhooks secret show|rotate`. */
export function addTo(program: Command): void {
  const group = program.command('webhooks').description('manage webhooks for finished jobs')
  addList(group)
  addReplay(group)
  const secret = group.command('secret').description('manage the signing secrets of a workspace')
  ofWorkspace(
    addVerb(secret, 'show', 'print the current signing secret and older secrets still in use'),
  ).action((workspace: string, options: PlaceOptions) =>
    withDatabase(async (database) => {
      const found = await workspaceOf(database, workspace, options)
      tellSecrets(options, await shownSecrets(database, found))
    }),
  )
  ofWorkspace(addVerb(secret, 'rotate', 'create a new signing secret; the old one also signs for a while'))
    .option(
      '--overlap <duration>',
      'how long webhooks are also signed with the old secret, such as 0s, 30m or 24h; at most 720h',
      overlapOf,
      24 * HOUR_MS,
    )
    .action((workspace: string, options: PlaceOptions & { overlap: number }) =>
      withDatabase(async (database) => {
        const { id } = await workspaceOf(database, workspace, options)
        const rotated = await ownWebhookSecrets(database.store).rotate(id, options.overlap, database.by)
        tellSecrets(options, need(rotated))
      }),
    )
}

const HEADS = ['ID', 'JOB', 'HOST', 'STATE', 'ATTEMPTS', 'LAST', 'NEXT ATTEMPT OR END']
const LISTED = 100
const HOUR_MS = 3_600_000
const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: HOUR_MS }

function addList(group: Command): void {
  const verb = addVerb(group, 'list', 'list deliveries, newest first; shows only the host of each address')
  inOrganization(verb, 'slug')
    .option('--workspace <ref>', 'workspace id or slug; default: all workspaces')
    .addOption(new Option('--state <state>', 'only deliveries in this state').choices(DELIVERY_STATES))
    .option('--limit <count>', 'maximum number of deliveries', countOf, LISTED)
    .action((options: PlaceOptions & { state?: DeliveryState; limit: number }, command: Command) => {
      refuseLoneOrganization(options, command)
      return withDatabase(async (database) => {
        const { workspace, state = null, limit } = options
        const workspaceId =
          workspace === undefined ? null : (await workspaceOf(database, workspace, options)).id
        const deliveries = need(await listDeliveries(database.store, { workspaceId, state, limit }))
        printList(options, deliveries, deliveryWire, [HEADS, cellsOf])
      })
    })
}

/** The organization only says which workspace a slug means: alone it would be ignored. */
function refuseLoneOrganization({ organization, workspace }: PlaceOptions, command: Command): void {
  if (organization !== undefined && workspace === undefined)
    command.error('error: --organization requires --workspace', { exitCode: 2 })
}

function addReplay(group: Command): void {
  const verb = addVerb(
    group,
    'replay',
    'send one delivery or all failed deliveries again, each with a full set of attempts, even to addresses that returned 410',
  )
  inOrganization(verb, 'slug')
    .argument('[id]', 'delivery id or id prefix from `webhooks list`')
    .option('--dead', 'send all failed deliveries (dead letters)')
    .option('--workspace <ref>', 'with --dead: only deliveries of this workspace (id or slug)')
    .action((named: string | undefined, options: PlaceOptions & { dead?: true }, command: Command) => {
      if ((named === undefined) !== (options.dead === true))
        command.error('error: give an id or --dead', { exitCode: 2 })
      if (named !== undefined && options.workspace !== undefined)
        command.error('error: --workspace requires --dead', { exitCode: 2 })
      refuseLoneOrganization(options, command)
      return withDatabase(async (database) => {
        const { workspace } = options
        const id = named === undefined ? undefined : await idOf(database.store.sql, 'delivery', named)
        const workspaceId =
          workspace === undefined ? null : (await workspaceOf(database, workspace, options)).id
        const input = id === undefined ? { id: null, workspaceId } : { id }
        const { count: replayed } = need(
          await replayDeliveries(database.store, input, { ...database.by, operation: 'cli.webhooks-replay' }),
        )
        if (id !== undefined && replayed === 0)
          throw new CliFailure(`${NOT_FOUND} ${remedyOf({ name: id, list: 'webhooks list' })}`)
        print(options, { replayed }, `${replayed} ${replayed === 1 ? 'delivery' : 'deliveries'} queued again`)
      })
    })
}

const NOT_FOUND = 'There is no such delivery, or it is already waiting for its next attempt.'

/** Parses `--overlap`. */
export function overlapOf(text: string): number {
  const [, count, unit = ''] = /^(\d{1,7})([smh])$/.exec(text) ?? []
  const ms = Number(count) * (UNIT_MS[unit] ?? NaN)
  if (!(ms <= WEBHOOK_OVERLAP_MS_MAX))
    throw new InvalidArgumentError(
      `Expected a duration like 0s, 30m or 24h, at most ${WEBHOOK_OVERLAP_MS_MAX / HOUR_MS}h.`,
    )
  return ms
}

function tellSecrets(options: PlaceOptions, secrets: readonly WebhookSecret[]): void {
  const wire = secrets.map(({ text, signsUntil }) => ({
    secret: text,
    signs_until: signsUntil?.toISOString() ?? null,
  }))
  print(
    options,
    { data: wire },
    secrets
      .map(({ text, signsUntil }) =>
        signsUntil === null ? text : `${text}  until ${signsUntil.toISOString()}`,
      )
      .join('\n'),
  )
}

function cellsOf(delivery: DeliveryRecord): Cells {
  const { id, jobId, host, state, attempts, lastStatus, lastReason, dueAt, endedAt } = delivery
  const last = lastReason === null ? '' : [lastReason, lastStatus].filter((part) => part !== null).join(' ')
  return [id, jobId, host, state, attempts, last, dueAt ?? endedAt]
}
