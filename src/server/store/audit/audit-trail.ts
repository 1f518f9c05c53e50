import {
  AUDIT_BATCH_EVENTS,
  AUDIT_FLUSH_MS,
  AUDIT_RETRY_MS,
  AUDIT_WAITING_MAX,
} from '../../../schemas/audit/audit-limits.ts'
import type { AuditEvent, AuditTrail } from '../../ports/audit/audit.ts'
import type { Log } from '../../ports/observe.ts'
import { appendAudit } from '../base/append-audit.ts'
import { GatheredRefusals } from './gathered-refusals.ts'
import type { Store } from '../base/open.ts'
import { isAway } from '../base/translate.ts'

/**
 * Appends events in batches, in the order in which they were noted. While the store is away events wait, up
 * to AUDIT_WAITING_MAX; a process that is killed loses the events of its last AUDIT_FLUSH_MS. Equal refusals
 * are gathered.
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

  /** @returns false when the store is away */
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
      // An event that the store will never take must not hold back the events after it.
      if (batch.length > 1) return this.#appendEach(batch)
      this.#log.error('audit.lost', { events: 1, operation: batch[0]?.operation, cause })
      return true
    }
  }

  async #appendEach(batch: readonly AuditEvent[]): Promise<boolean> {
    for (const [index, event] of batch.entries()) {
      if (await this.#append([event])) continue
      // Events that are appended already must not be appended again.
      this.#waiting = this.#waiting.slice(index)
      return false
    }
    return true
  }
}
