import { REFUSALS_GATHERED_MS } from '../../../schemas/audit/audit-limits.ts'
import type { AuditEvent, AuditTrail } from '../../ports/audit/audit.ts'
import type { Log } from '../../ports/observe.ts'
import { appendAudit } from '../base/append-audit.ts'
import type { Store } from '../base/open.ts'
import { isAway } from '../base/translate.ts'

/** Most events of the audit log that one statement appends. Decision. */
export const AUDIT_BATCH_EVENTS = 500
/** Milliseconds that an event of the audit log waits for others before all are appended. Decision. */
export const AUDIT_FLUSH_MS = 50
/** Milliseconds between two attempts to append events while the store is unavailable. Decision. */
export const AUDIT_RETRY_MS = 250
/**
 * Events that wait for the store. Above this number a call that would cause an event is refused. Decision.
 */
export const AUDIT_WAITING_MAX = 20_000
/**
 * Distinct refusals of a key that get their own rows, in each process and each REFUSALS_GATHERED_MS; further
 * refusals share one row per reason. Decision.
 */
export const REFUSALS_DISTINCT_MAX = 100
/**
 * Distinct refusals of an organization, over all its keys, that get their own rows; an organization can create
 * any number of keys, so the limit per key is not enough. Further refusals share one row per reason. Decision.
 */
export const REFUSALS_ORGANIZATION_DISTINCT_MAX = 1_000
/**
 * Distinct refusals of all organizations that one process counts; further refusals share one row per
 * organization and reason. Decision.
 */
export const REFUSALS_GATHERED_MAX = 10_000

/**
 * Appends events in batches, in the order in which they were noted. While the store is unavailable, events
 * wait, up to AUDIT_WAITING_MAX; a process that is killed loses the events of its last AUDIT_FLUSH_MS. Equal
 * refusals are gathered.
 * @param refusalsMs milliseconds in which equal refusals become one row
 */
export function openAuditTrail(store: Store, log: Log, refusalsMs?: number): AuditTrail {
  return new Trail(store, log, refusalsMs)
}

class Trail implements AuditTrail {
  readonly #store: Store
  readonly #log: Log
  #waiting: AuditEvent[] = []
  #timer: NodeJS.Timeout | null = null
  #flushing: Promise<void> | null = null
  readonly #refusals: GatheredRefusals
  #isClosing = false

  constructor(store: Store, log: Log, refusalsMs?: number) {
    this.#store = store
    this.#log = log
    this.#refusals = new GatheredRefusals((event) => this.#queue(event), refusalsMs)
  }

  note(event: AuditEvent): boolean {
    if (this.#isClosing) return false
    return event.outcome === 'refused' ? this.#refusals.note(event) : this.#queue(event)
  }

  #queue(event: AuditEvent): boolean {
    if (this.#waiting.length >= AUDIT_WAITING_MAX) return false
    this.#waiting.push(event)
    this.#schedule(AUDIT_FLUSH_MS)
    return true
  }

  async close(): Promise<void> {
    this.#isClosing = true
    this.#refusals.close()
    if (this.#timer !== null) clearTimeout(this.#timer)
    await this.#flushing
    await this.#flush()
    if (this.#waiting.length > 0) this.#log.error('audit.lost', { events: this.#waiting.length })
  }

  #schedule(inMs: number): void {
    if (this.#timer !== null || this.#flushing !== null || this.#waiting.length === 0) return
    this.#timer = setTimeout(() => {
      this.#timer = null
      this.#flushing = this.#flush().then((isAppended) => {
        this.#flushing = null
        if (!this.#isClosing) this.#schedule(isAppended ? AUDIT_FLUSH_MS : AUDIT_RETRY_MS)
      })
    }, inMs)
  }

  /** @returns false when the store is unavailable */
  async #flush(): Promise<boolean> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, AUDIT_BATCH_EVENTS)
      if (!(await this.#append(batch))) return false
      this.#waiting = this.#waiting.slice(batch.length)
    }
    return true
  }

  async #append(batch: readonly AuditEvent[]): Promise<boolean> {
    try {
      await this.#store.sql.begin((tx) => appendAudit(tx, ...batch))
      return true
    } catch (cause) {
      if (isAway(cause)) return false
      // An event that the store will never accept must not delay later events.
      if (batch.length > 1) return this.#appendEach(batch)
      this.#log.error('audit.lost', { events: 1, operation: batch[0]?.operation, cause })
      return true
    }
  }

  async #appendEach(batch: readonly AuditEvent[]): Promise<boolean> {
    for (const [index, event] of batch.entries()) {
      if (await this.#append([event])) continue
      // Events that are already appended must not be appended again.
      this.#waiting = this.#waiting.slice(index)
      return false
    }
    return true
  }
}

/** Name of the object in a shared row of refusals that exceed the number of distinct ones. */
export const SEVERAL = '(several)'

interface Gathered {
  readonly event: AuditEvent
  /** The actor and the organization whose distinct refusals include this one. */
  readonly holders: readonly string[]
  /** Number of refusals since the last row. */
  count: number
  /** Time of the first of them, as ISO 8601 text. */
  since: string
}

/**
 * Appends the first of several equal refusals immediately, and later ones as one row with their count every
 * REFUSALS_GATHERED_MS: a key that is refused 1,450 times a second would otherwise fill the log. Refusals are
 * equal when they have the same actor and differ only in their request. Beyond REFUSALS_DISTINCT_MAX distinct
 * refusals of an actor, all its further refusals of one reason are equal. Beyond the limit of the organization
 * (it can create any number of keys) or of the process, all further refusals of the organization are equal.
 * Every appended row contains the count of the equal refusals. A process that is killed loses the counts since
 * the last row.
 */
export class GatheredRefusals {
  readonly #append: (event: AuditEvent) => boolean
  readonly #everyMs: number
  readonly #gathered = new Map<string, Gathered>()
  /** Number of distinct refusals by actor and by organization. */
  #distinct = new Map<string, number>()
  #timer: NodeJS.Timeout | null = null

  /** @param append returns false when the log has no room */
  constructor(append: (event: AuditEvent) => boolean, everyMs = REFUSALS_GATHERED_MS) {
    this.#append = append
    this.#everyMs = everyMs
  }

  /** @returns false when the refusal can neither be appended nor counted */
  note(event: AuditEvent): boolean {
    if (this.#counted(identityOf(event))) return true
    if (this.#hasRoom(event) && this.#distinctOf(actorOf(event)) < REFUSALS_DISTINCT_MAX)
      return this.#begin(event, holdersOf(event))
    const ofActor = severalOf(event)
    if (this.#counted(identityOf(ofActor))) return true
    if (this.#hasRoom(event)) return this.#begin(ofActor, holdersOf(event))
    // These rows need no limit: organizations and reasons are few.
    const ofOrganization = { ...ofActor, workspaceId: null, actor: { kind: event.actor.kind, id: null } }
    return this.#counted(identityOf(ofOrganization)) || this.#begin(ofOrganization, [])
  }

  /** Appends the counts, and stops counting. */
  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.#flush()
  }

  #counted(identity: string): boolean {
    const known = this.#gathered.get(identity)
    if (known === undefined) return false
    if (known.count === 0) known.since = new Date().toISOString()
    known.count++
    return true
  }

  #begin(event: AuditEvent, holders: readonly string[]): boolean {
    if (!this.#append(event)) return false
    this.#gathered.set(identityOf(event), { event, holders, count: 0, since: '' })
    this.#add(holders)
    this.#timer ??= setTimeout(() => this.#tick(), this.#everyMs)
    return true
  }

  /** True when the organization may have another distinct refusal in addition to the row for all further ones. */
  #hasRoom({ organizationId }: AuditEvent): boolean {
    return (
      this.#gathered.size < REFUSALS_GATHERED_MAX &&
      this.#distinctOf(organizationId) < REFUSALS_ORGANIZATION_DISTINCT_MAX
    )
  }

  #distinctOf(holder: string): number {
    return this.#distinct.get(holder) ?? 0
  }

  #add(holders: readonly string[]): void {
    for (const holder of holders) this.#distinct.set(holder, this.#distinctOf(holder) + 1)
  }

  #tick(): void {
    this.#timer = null
    this.#flush()
    if (this.#gathered.size > 0) this.#timer = setTimeout(() => this.#tick(), this.#everyMs)
  }

  /** Drops refusals without a repetition since their last row: the next one is then appended immediately again. */
  #flush(): void {
    this.#distinct = new Map()
    for (const [identity, known] of this.#gathered) {
      const { event, holders, count, since } = known
      // While the log has no room, counting continues.
      if (count > 0 && this.#append({ ...event, requestId: null, count, since })) known.count = 0
      if (count === 0) this.#gathered.delete(identity)
      else this.#add(holders)
    }
  }
}

function identityOf(event: AuditEvent): string {
  return JSON.stringify({ ...event, requestId: null })
}

function actorOf({ organizationId, actor }: AuditEvent): string {
  return `${organizationId} ${actor.kind} ${actor.id ?? ''}`
}

function holdersOf(event: AuditEvent): readonly string[] {
  return [actorOf(event), event.organizationId]
}

function severalOf(event: AuditEvent): AuditEvent {
  const { reason } = event.after as { readonly reason?: unknown }
  return { ...event, objectId: SEVERAL, after: { name: SEVERAL, reason } }
}
