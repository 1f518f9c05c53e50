import type { Command } from 'commander'
import { auditEventText } from '../../operations/audit/audit-answers.ts'
import type { AuditQuery, AuditRow } from '../../ports/audit/audit.ts'
import { readAudit, verifyAudit } from '../../store/audit/audit-log.ts'
import { findAudit } from '../../store/audit/audit-search.ts'
import { findOrganization } from '../../store/workspaces/organizations.ts'
import { need, withDatabase, type DatabaseHandle } from '../parts/database.ts'
import { idIfAny } from '../parts/reference.ts'
import { escapeControlsInJson } from '../parts/terminal-text.ts'
import { addVerb, CliFailure, countOf, print, table, timeOf } from '../parts/verb.ts'

interface OfOrganization {
  readonly json?: boolean
  readonly organization?: string
}

interface ListOptions extends OfOrganization {
  readonly workspace?: string
  readonly operation?: string
  readonly object?: string
  readonly actor?: string
  readonly since?: Date
  readonly before?: number
  readonly limit: number
}

const LISTED_DEFAULT = 50

/** `audit list|export|verify`. */
export function addAuditVerbs(program: Command): void {
  const group = program.command('audit').description('read the audit log')
  addVerb(group, 'list', 'list the events of an organization, newest first')
    .option('--organization <ref>', 'organization id or name; optional if there is only one')
    .option('--workspace <ref>', 'only events of this workspace (id or slug)')
    .option('--operation <id>', 'only events of this operation, such as vault.put_secret')
    .option('--object <kind/id>', 'only events of this object, such as secret/openai_key')
    .option(
      '--actor <id>',
      'only events caused by this key (name or hash), SCIM token (hash) or operating-system user',
    )
    .option('--since <time>', 'only events at or after this time (ISO 8601)', timeOf)
    .option('--before <n>', 'only events before this event number', countOf)
    .option('--limit <count>', 'maximum number of events', countOf, LISTED_DEFAULT)
    .action((options: ListOptions) => withDatabase((database) => list(database, options)))
  addVerb(group, 'export', 'print every event as a line of JSON with its chained hash, oldest first')
    .option('--organization <ref>', 'organization id or name; default: all organizations')
    .action((options: OfOrganization) => withDatabase((database) => exportAll(database, options)))
  addVerb(
    group,
    'verify',
    'recompute the hash chain and report the first bad event; exit code 1 if there is one',
  )
    .option('--organization <ref>', 'organization id or name; default: all organizations')
    .action((options: OfOrganization) => withDatabase((database) => verify(database, options)))
}

async function list({ store }: DatabaseHandle, options: ListOptions): Promise<void> {
  const organizationId = need(await findOrganization(store.sql, options.organization ?? null)).id
  const [objectKind, objectId] = options.object === undefined ? [] : objectOf(options.object)
  const { workspace, operation, actor, since, before, limit } = options
  const actorId = actor === undefined ? undefined : await idIfAny(store.sql, 'key', actor)
  const { rows, nextBefore } = need(
    await findAudit(
      store,
      definedOf({
        organizationId,
        workspace,
        operation,
        objectKind,
        objectId,
        actorId,
        since: since?.toISOString(),
        before,
        limit,
      }),
    ),
  )
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

async function exportAll({ store }: DatabaseHandle, options: OfOrganization): Promise<void> {
  const organizationId = await organizationOf({ store }, options)
  need(
    await readAudit(
      store,
      organizationId,
      (row) => void process.stdout.write(`${escapeControlsInJson(eventOf(row))}\n`),
    ),
  )
}

async function verify({ store }: DatabaseHandle, options: OfOrganization): Promise<void> {
  const { checked, faults } = need(await verifyAudit(store, await organizationOf({ store }, options)))
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

async function organizationOf(
  { store }: Pick<DatabaseHandle, 'store'>,
  { organization }: OfOrganization,
): Promise<string | null> {
  return organization === undefined ? null : need(await findOrganization(store.sql, organization)).id
}

/** A printed event: its text, and the hash that chains it to the one before. */
interface Printed {
  readonly n: number
  readonly at: string
  readonly outcome: string
  /** Number of equal refusals that the event stands for. */
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

function definedOf(query: { [K in keyof AuditQuery]: AuditQuery[K] | undefined }): AuditQuery {
  return Object.fromEntries(
    Object.entries(query).filter(([, value]) => value !== undefined),
  ) as unknown as AuditQuery
}

function objectOf(text: string): readonly [string, string] {
  const at = text.indexOf('/')
  if (at < 1) throw new CliFailure('--object must be KIND/ID, such as secret/openai_key')
  return [text.slice(0, at), text.slice(at + 1)]
}
