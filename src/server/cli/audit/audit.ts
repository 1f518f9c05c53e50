import type { Command } from 'commander'
import { ListAuditQuery } from '../../../schemas/audit/audit.ts'
import { auditQueryOf, auditEventText } from '../../operations/audit/list-audit.ts'
import type { AuditRow } from '../../ports/audit/audit.ts'
import { readAudit, verifyAudit } from '../../store/audit/audit-log.ts'
import { findAudit } from '../../store/audit/audit-search.ts'
import { need, withDatabase, type DatabaseHandle } from '../parts/database.ts'
import { inOrganization, organizationIfAny, organizationOf, type PlaceOptions } from '../parts/places.ts'
import { idIfAny } from '../parts/reference.ts'
import { optionsOf } from '../parts/shape-options.ts'
import { escapeControlsInJson } from '../parts/terminal-text.ts'
import { addVerb, CliFailure, countOf, print, table, timeOf } from '../parts/verb.ts'

type ListOptions = PlaceOptions & { readonly object?: string }

const LIST = optionsOf(ListAuditQuery, {
  workspace_id: { flags: '--workspace <ref>', about: 'only events of this workspace (id or slug)' },
  operation: '--operation <id>',
  actor_id: {
    flags: '--actor <id>',
    about: 'only events caused by this key (name or hash), SCIM token (hash) or operating-system user',
  },
  since: { flags: '--since <time>', parse: (text) => timeOf(text).toISOString() },
  before: { flags: '--before <n>', about: 'only events before this event number' },
  limit: { flags: '--limit <count>', about: 'maximum number of events', parse: countOf },
})

/** `audit list|export|verify`. */
export function addTo(program: Command): void {
  const group = program.command('audit').description('read the audit log')
  const listing = LIST.addTo(addVerb(group, 'list', 'list the events of an organization, newest first'))
  inOrganization(listing, 'only')
    .option('--object <kind/id>', 'only events of this object, such as secret/openai_key')
    .action((options: ListOptions) => withDatabase((database) => list(database, options)))
  inOrganization(
    addVerb(group, 'export', 'print every event as a line of JSON with its chained hash, oldest first'),
    'all',
  ).action((options: PlaceOptions) => withDatabase((database) => exportAll(database, options)))
  inOrganization(
    addVerb(
      group,
      'verify',
      'recompute the hash chain and report the first bad event; exit code 1 if there is one',
    ),
    'all',
  ).action((options: PlaceOptions) => withDatabase((database) => verify(database, options)))
}

async function list(database: DatabaseHandle, options: ListOptions): Promise<void> {
  const { store } = database
  const organizationId = await organizationOf(database, options)
  const { actor_id: actor, ...asked } = LIST.from(options)
  const query = auditQueryOf(organizationId, {
    ...asked,
    ...(options.object !== undefined && objectOf(options.object)),
    ...(actor !== undefined && { actor_id: await idIfAny(store.sql, 'key', actor) }),
  })
  const { rows, nextBefore } = need(await findAudit(store, query))
  const events = rows.map(eventOf)
  const more = nextBefore === null ? '' : `\nthere are more events: continue with --before ${nextBefore}`
  const lines = events.map((event) => [
    String(event.n),
    event.at,
    event.count === undefined ? event.outcome : `${event.outcome} ×${event.count}`,
    event.operation,
    `${event.object_kind}/${event.object_id}`,
    `${event.actor.kind} ${event.actor.id ?? ''}`,
  ])
  const page = { data: events, has_more: nextBefore !== null, next_before: nextBefore }
  print(options, page, table([['N', 'AT', 'OUTCOME', 'OPERATION', 'OBJECT', 'ACTOR'], ...lines]) + more)
}

async function exportAll(database: DatabaseHandle, options: PlaceOptions): Promise<void> {
  const organizationId = await organizationIfAny(database, options)
  need(
    await readAudit(
      database.store,
      organizationId,
      (row) => void process.stdout.write(`${escapeControlsInJson(eventOf(row))}\n`),
    ),
  )
}

async function verify(database: DatabaseHandle, options: PlaceOptions): Promise<void> {
  const organizationId = await organizationIfAny(database, options)
  const { checked, faults } = need(await verifyAudit(database.store, organizationId))
  const lines = faults.map(
    ({ organizationId, n, problem }) => `event ${n} of organization ${organizationId} is ${problem}`,
  )
  print(
    options,
    {
      checked,
      faults: faults.map((fault) => ({
        organization_id: fault.organizationId,
        n: fault.n,
        problem: fault.problem,
      })),
    },
    [...lines, `${checked} events checked, ${faults.length} chains broken`].join('\n'),
  )
  if (faults.length > 0) throw new CliFailure(lines.join('\n'))
}

/** A printed event: its text, and the hash that links it to the previous event. */
interface Printed {
  readonly n: number
  readonly at: string
  readonly outcome: string
  /** Number of equal refusals that the event represents. */
  readonly count?: number
  readonly operation: string
  readonly object_kind: string
  readonly object_id: string
  readonly actor: { readonly kind: string; readonly id: string | null }
  readonly hash: string
}

function eventOf(row: AuditRow): Printed {
  return JSON.parse(auditEventText(row)) as Printed
}

function objectOf(text: string): Pick<ListAuditQuery, 'object_kind' | 'object_id'> {
  const at = text.indexOf('/')
  if (at < 1) throw new CliFailure('--object must be KIND/ID, such as secret/openai_key')
  return { object_kind: text.slice(0, at), object_id: text.slice(at + 1) }
}
