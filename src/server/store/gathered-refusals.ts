import { REFUSALS_DISTINCT_MAX, REFUSALS_GATHERED_MAX, REFUSALS_GATHERED_MS } from '../../schemas/limits.ts'
import type { AuditEvent } from '../ports/audit.ts'

/** What stands for the object of refusals that are too many and too different to have rows of their own. */
export const SEVERAL = '(several)'

interface Gathered {
  readonly event: AuditEvent
  /** Since its last row. */
  count: number
  since: string
}

/**
 * Appends the first of equal refusals at once, and those that follow as one row each REFUSALS_GATHERED_MS, with their count:
 * one key that is refused 1,450 times a second would else fill the log. Equal are those of one actor that differ in nothing
 * but their call; beyond REFUSALS_DISTINCT_MAX different ones of an actor, all further ones of one reason are equal.
 * A process that is killed loses what it counted since the last row.
 */
export class GatheredRefusals {
  readonly #append: (event: AuditEvent) => boolean
  readonly #everyMs: number
  readonly #gathered = new Map<string, Gathered>()
  /** How many of them each actor has. */
  #distinct = new Map<string, number>()
  #timer: NodeJS.Timeout | null = null

  /** @param append false when no more can be taken */
  constructor(append: (event: AuditEvent) => boolean, everyMs = REFUSALS_GATHERED_MS) {
    this.#append = append
    this.#everyMs = everyMs
  }

  /** @returns false when the refusal can neither be appended nor counted */
  note(event: AuditEvent): boolean {
    const own = identityOf(event)
    if (this.#counted(own)) return true
    const actor = actorOf(event)
    const distinct = this.#distinct.get(actor) ?? 0
    if (distinct < REFUSALS_DISTINCT_MAX) return this.#begin(own, event)
    const several = severalOf(event)
    const identity = identityOf(several)
    return this.#counted(identity) || this.#begin(identity, several)
  }

  /** Appends what was counted, and counts no more. */
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

  #begin(identity: string, event: AuditEvent): boolean {
    if (!this.#append(event)) return false
    if (this.#gathered.size >= REFUSALS_GATHERED_MAX) return true
    this.#gathered.set(identity, { event, count: 0, since: '' })
    const actor = actorOf(event)
    this.#distinct.set(actor, (this.#distinct.get(actor) ?? 0) + 1)
    this.#timer ??= setTimeout(() => this.#tick(), this.#everyMs)
    return true
  }

  #tick(): void {
    this.#timer = null
    this.#flush()
    if (this.#gathered.size > 0) this.#timer = setTimeout(() => this.#tick(), this.#everyMs)
  }

  /** What was not repeated since its last row is forgotten: the next one is a first one again. */
  #flush(): void {
    this.#distinct = new Map()
    for (const [identity, known] of this.#gathered) {
      const { event, count, since } = known
      // Where the log takes nothing now, the count goes on until it does.
      if (count > 0 && this.#append({ ...event, requestId: null, count, since })) known.count = 0
      if (count === 0) this.#gathered.delete(identity)
      else this.#distinct.set(actorOf(event), (this.#distinct.get(actorOf(event)) ?? 0) + 1)
    }
  }
}

function identityOf(event: AuditEvent): string {
  return JSON.stringify({ ...event, requestId: null })
}

function actorOf({ organizationId, actor }: AuditEvent): string {
  return `${organizationId} ${actor.kind} ${actor.id ?? ''}`
}

function severalOf(event: AuditEvent): AuditEvent {
  const { reason } = event.after as { readonly reason?: unknown }
  return { ...event, objectId: SEVERAL, after: { name: SEVERAL, reason } }
}
