import type { Caller } from '../schemas/values/callers.ts'
import type { Failure } from '../schemas/failures.ts'

/** Gives a waiting job its thread (null), or the reason for its refusal. Removes the job from the queue. */
export type QueuedJob = (refusal: Failure | null) => void

const BUSY: Failure = { name: 'busy', retryAfterS: 1 }

/** Milliseconds that a job counts before its end, and the least that it counts in total, so that tiny jobs take turns too. */
const JOB_MS_MIN = 1

type Path = readonly string[]

/**
 * Jobs that wait for a thread. Organizations share the threads' time, workspaces the time of their organization, keys
 * that of their workspace: the holder with the least time so far is next, and a running job counts as time. When all
 * places are taken, a new job of an organization with fewer places replaces one of the organization with the most;
 * within an organization the workspaces and keys do the same. A `FairQueue` counts items; this queue shares measured
 * time, on three levels.
 */
export class JobQueue {
  readonly #all = new Share()
  readonly #sizeMax: number
  readonly #organizationMax: number

  /** @param limits.organizationMax jobs of one organization that may wait */
  constructor({ sizeMax, organizationMax }: { readonly sizeMax: number; readonly organizationMax: number }) {
    this.#sizeMax = sizeMax
    this.#organizationMax = organizationMax
  }

  get size(): number {
    return this.#all.waiting
  }

  /** Null when there is a place for one more job of this caller, another job may lose its place for it. Failure: busy. */
  makeRoom(caller: Caller): Failure | null {
    const path = pathOf(caller)
    const organization = this.#all.below.get(caller.organizationId)
    const isShareFull = organization !== undefined && organization.waiting >= this.#organizationMax
    if (isShareFull) return organization.giveWay(path.slice(1)) ? null : BUSY
    return this.size < this.#sizeMax || this.#all.giveWay(path) ? null : BUSY
  }

  add(caller: Caller, turn: QueuedJob): void {
    this.#all.add(pathOf(caller), turn)
  }

  remove(caller: Caller, turn: QueuedJob): void {
    this.#all.remove(pathOf(caller), turn)
  }

  /** The job whose turn has come. */
  next(): QueuedJob | null {
    return this.#all.next()
  }

  /**
   * A job of this caller begins; to be called before the job is removed from the waiting ones. `ended` reports how long
   * it had a thread.
   */
  began(caller: Caller): void {
    this.#all.began(pathOf(caller))
  }

  ended(caller: Caller, ms: number): void {
    this.#all.ended(pathOf(caller), Math.max(ms, JOB_MS_MIN))
  }

  refuse(refusal: Failure): void {
    for (const turn of this.#all.turnsOfAll()) turn(refusal)
  }
}

function pathOf({ organizationId, workspaceId, key }: Caller): Path {
  return [organizationId, workspaceId, key]
}

/**
 * Waiting and running jobs of all callers, of an organization, a workspace or a key. Fair queueing by start tags: among
 * the waiting holders the one with the least tag is next. A tag is the holder's time so far, or the current tag of the
 * others if that is higher.
 */
class Share {
  readonly below = new Map<string, Share>()
  readonly #turns = new Set<QueuedJob>()
  waiting = 0
  running = 0
  /** Tag of the next job, in milliseconds of thread time as its level counts them. */
  tag = 0
  /** Tag of the last start among the holders below; holders that join later begin with it. */
  #clock = 0

  add(path: Path, turn: QueuedJob): void {
    this.waiting++
    if (path.length === 0) this.#turns.add(turn)
    else this.#child(path).add(path.slice(1), turn)
  }

  /** @returns whether the job was waiting here */
  remove(path: Path, turn: QueuedJob): boolean {
    const [name = '', ...rest] = path
    const wasThere =
      path.length === 0 ? this.#turns.delete(turn) : this.below.get(name)?.remove(rest, turn) === true
    if (!wasThere) return false
    this.waiting--
    this.#forget(name)
    return true
  }

  next(): QueuedJob | null {
    for (const turn of this.#turns) return turn
    let first: Share | null = null
    for (const share of this.below.values()) {
      if (share.waiting > 0 && (first === null || share.tag < first.tag)) first = share
    }
    return first?.next() ?? null
  }

  began(path: Path): void {
    this.running++
    if (path.length === 0) return
    const share = this.#child(path)
    this.#clock = Math.max(this.#clock, share.tag)
    share.tag += JOB_MS_MIN
    share.began(path.slice(1))
  }

  ended(path: Path, ms: number): void {
    this.running--
    const [name = '', ...rest] = path
    const share = this.below.get(name)
    if (share === undefined) return
    share.tag += ms - JOB_MS_MIN
    share.ended(rest, ms)
    // Otherwise new holders would always come before a holder whose job has run: an organization can create any number of keys.
    this.#clock += ms / this.below.size
    this.#forget(name)
  }

  /**
   * Refuses the youngest job of a holder that has more jobs than this one would have with one more.
   * @returns whether there was such a job
   */
  giveWay(path: Path): boolean {
    const [name = '', ...rest] = path
    const own = this.below.get(name)
    const most = this.#most()
    if (most !== null && most !== own && most.waiting > (own?.waiting ?? 0) + 1) return most.refuseYoungest()
    return own?.giveWay(rest) ?? false
  }

  /** The youngest job has waited the shortest time. */
  refuseYoungest(): boolean {
    const most = this.#most()
    if (most !== null) return most.refuseYoungest()
    for (const turn of [...this.#turns].slice(-1)) turn(BUSY)
    return true
  }

  turnsOfAll(): readonly QueuedJob[] {
    return [...this.#turns, ...[...this.below.values()].flatMap((share) => share.turnsOfAll())]
  }

  #child([name = '']: Path): Share {
    const known = this.below.get(name)
    if (known !== undefined) {
      // A holder that did not wait gets no compensation for the time that has passed.
      if (known.waiting === 0) known.tag = Math.max(known.tag, this.#clock)
      return known
    }
    const share = new Share()
    share.tag = this.#clock
    this.below.set(name, share)
    return share
  }

  #forget(name: string): void {
    const share = this.below.get(name)
    if (share?.waiting === 0 && share.running === 0) this.below.delete(name)
  }

  #most(): Share | null {
    let most: Share | null = null
    for (const share of this.below.values()) if (share.waiting > (most?.waiting ?? 0)) most = share
    return most
  }
}
