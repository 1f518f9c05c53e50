import { CallerShares, type Caller, type Shares } from '../../schemas/values/callers.ts'
import type { AnswerRoom } from '../ports/egress/egress.ts'

/** Share of the budget that is reserved for small answers. Decision. */
const RESERVE_SHARE = 1 / 8
/** Share of the budget up to which an answer is small. Decision. */
const SMALL_SHARE = 1 / 256
/**
 * Share of the budget for answers that one organization may hold. An answer that begins also needs room in
 * the shares of its workspace and its key. The only answer of an organization, workspace or key may exceed
 * the share: an answer of 128 MiB must pass. Decision.
 */
const ANSWERS_ORGANIZATION_SHARE = 1 / 2
/** Share of the budget that one workspace may hold when an answer begins. Decision. */
const ANSWERS_WORKSPACE_SHARE = 7 / 16
/** Share of the budget that one key may hold when an answer begins. Decision. */
const ANSWERS_KEY_SHARE = 3 / 8

/**
 * Bytes of answers that one front holds at once, in all and for each organization, workspace and key. Design
 * §4. An answer in progress gets bytes before answers that wait to begin, since it frees its bytes when it
 * ends. Small answers (at most 1/256 of the budget: 1 MiB of 256 MiB) overtake waiting answers and have a
 * reserve, so that large answers cannot block them. An answer that waits for its caller's share delays only
 * answers of its key. When all bytes held by the whole front, or by an organization at its share, belong to
 * answers that wait for more bytes, the last of them is refused: otherwise none would ever end.
 */
export class AnswerBudget {
  readonly #bytesMax: number
  readonly #shares: CallerShares
  readonly #waiting: Waiter[] = []
  #heldBytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
    this.#shares = new CallerShares({
      organization: bytesMax * ANSWERS_ORGANIZATION_SHARE,
      workspace: bytesMax * ANSWERS_WORKSPACE_SHARE,
      key: bytesMax * ANSWERS_KEY_SHARE,
    })
  }

  get heldBytes(): number {
    return this.#heldBytes
  }

  /**
   * Takes room for an answer that begins; false when the budget has no room, or when other answers already
   * wait for room.
   * @param caller null: the answer counts for no caller, and may use the whole budget
   */
  take(bytes: number, caller: Caller | null = null): boolean {
    const claim = { bytes, heldBytes: 0, caller }
    for (const waiter of this.#waiting) if (this.#isBefore(waiter, claim)) return false
    return this.grow(claim)
  }

  /** Takes room for bytes that are made in this process; null under the same conditions as `take`. */
  hold(bytes: number, caller: Caller): AnswerRoom | null {
    return this.take(bytes, caller) ? new HeldRoom(this, bytes, caller) : null
  }

  /** Creates an `AnswerRoom` that holds no bytes yet. */
  room(caller: Caller): AnswerRoom {
    return new HeldRoom(this, 0, caller)
  }

  /** Takes more room for an answer in progress. */
  grow(claim: Claim): boolean {
    if (!this.#isFree(claim) || !this.#isShared(claim)) return false
    this.#count(claim.bytes, claim.caller)
    return true
  }

  /**
   * Waits for room, in order of arrival.
   * @param claim the additional bytes, and the bytes that the answer has already
   * @param settled called once: true when the answer has the bytes, false when it can never get them. It may
   * be called before this function returns.
   * @returns a function that stops waiting; harmless after `settled`
   */
  wait(claim: Claim, settle: Settle): () => void {
    const waiter = { ...claim, settle }
    this.#waiting.push(waiter)
    this.#untie(claim.caller)
    return () => {
      const at = this.#waiting.indexOf(waiter)
      if (at === -1) return
      this.#waiting.splice(at, 1)
      // The answer that stopped waiting may have blocked others that fit.
      this.#grant(waiter.caller)
    }
  }

  give(bytes: number, caller: Caller | null = null): void {
    this.#count(-bytes, caller)
    if (this.#waiting.length > 0) this.#grant(caller)
  }

  #count(bytes: number, caller: Caller | null): void {
    this.#heldBytes += bytes
    if (caller !== null) this.#shares.add(bytes, caller)
  }

  #isSmall({ bytes, heldBytes }: Claim): boolean {
    return heldBytes + bytes <= this.#bytesMax * SMALL_SHARE
  }

  /** True when the waiting answer has precedence over this claim. */
  #isBefore(waiter: Waiter, claim: Claim): boolean {
    if (this.#isSmall(claim) && !this.#isSmall(waiter)) return false
    return this.#isShared(waiter) || waiter.caller?.key === claim.caller?.key
  }

  #isFree(claim: Claim): boolean {
    const { bytes, heldBytes } = claim
    const most = this.#isSmall(claim) ? this.#bytesMax : this.#bytesMax * (1 - RESERVE_SHARE)
    // An answer larger than its part of the budget is admitted when it is the only one.
    if (this.#heldBytes + bytes > most && this.#heldBytes > heldBytes) return false
    return this.#heldBytes + bytes <= this.#bytesMax
  }

  /**
   * Whether the claim stays within its caller's shares. For an answer in progress only the organization's
   * share counts: if answers waited for several shares at once, they could block each other forever.
   */
  #isShared(claim: Claim): boolean {
    const { heldBytes, caller } = claim
    if (caller === null) return true
    const { organizationId, workspaceId, key } = caller
    const { organizations, workspaces, keys } = this.#shares
    if (!isWithin(organizations, organizationId, claim)) return false
    if (heldBytes > 0) return true
    return isWithin(workspaces, workspaceId, claim) && isWithin(keys, key, claim)
  }

  /** Grants in order. A large answer that does not fit blocks later large answers, either all of them or those of its key, but never small ones. */
  #grant(caller: Caller | null): void {
    let isBlocked = false
    const behind = new Set<string>()
    for (const waiter of [...this.#waiting]) {
      const at = this.#waiting.indexOf(waiter)
      const isBehind = isBlocked || (waiter.caller !== null && behind.has(waiter.caller.key))
      // A grant may end another answer, which then no longer waits.
      if (at === -1 || (isBehind && !this.#isSmall(waiter))) continue
      if (this.grow(waiter)) {
        this.#waiting.splice(at, 1)
        waiter.settle(true)
      } else if (waiter.caller === null || this.#isShared(waiter)) isBlocked = true
      else behind.add(waiter.caller.key)
    }
    this.#untie(caller)
  }

  /**
   * Resolves a deadlock in the front or the organization: when all answers wait for each other, one that fits
   * continues; if none fits, the last one is refused.
   */
  #untie(caller: Caller | null): void {
    for (let tied = this.#tied(caller); tied.length > 0; tied = this.#tied(caller)) {
      const fitting = tied.find((waiter) => this.grow(waiter))
      const next = fitting ?? tied.findLast(({ heldBytes }) => heldBytes > 0) ?? tied.at(-1)
      if (next === undefined) return
      this.#waiting.splice(this.#waiting.indexOf(next), 1)
      next.settle(fitting !== undefined)
    }
  }

  /** The answers that wait for each other; empty while another answer may end and return bytes. */
  #tied(caller: Caller | null): readonly Waiter[] {
    if (bytesOf(this.#waiting) === this.#heldBytes) return this.#waiting
    if (caller === null) return []
    const { organizationId } = caller
    const own = this.#waiting.filter((waiter) => waiter.caller?.organizationId === organizationId)
    const isTied =
      own.every((waiter) => !this.#isShared(waiter)) &&
      bytesOf(own) === this.#shares.organizations.heldBy(organizationId)
    return isTied ? own : []
  }
}

/** Room in an answer budget, taken for bytes that this process made itself. */
class HeldRoom implements AnswerRoom {
  readonly #budget: AnswerBudget
  readonly #caller: Caller
  #bytes: number
  /** Ends the wait for more; null: nothing waits. */
  #refuse: (() => void) | null = null

  /** @param bytes already taken from the budget */
  constructor(budget: AnswerBudget, bytes: number, caller: Caller) {
    this.#budget = budget
    this.#bytes = bytes
    this.#caller = caller
  }

  get bytes(): number {
    return this.#bytes
  }

  grow(bytes: number): boolean {
    if (!this.#budget.grow({ bytes, heldBytes: this.#bytes, caller: this.#caller })) return false
    this.#bytes += bytes
    return true
  }

  more(bytes: number): Promise<boolean> {
    const isNew = this.#bytes === 0
    if (isNew && this.#budget.take(bytes, this.#caller)) this.#bytes = bytes
    else if (isNew || !this.grow(bytes)) return this.#wait(bytes)
    return Promise.resolve(true)
  }

  #wait(bytes: number): Promise<boolean> {
    const claim = { bytes, heldBytes: this.#bytes, caller: this.#caller }
    return new Promise((resolve) => {
      let isSettled = false
      const stop = this.#budget.wait(claim, (isGranted) => {
        this.#refuse = null
        if (isGranted) this.#bytes += bytes
        resolve(isGranted)
        isSettled = true
      })
      if (isSettled) return
      this.#refuse = () => {
        this.#refuse = null
        stop()
        resolve(false)
      }
    })
  }

  give(): void {
    this.#refuse?.()
    if (this.#bytes > 0) this.#budget.give(this.#bytes, this.#caller)
    this.#bytes = 0
  }
}

function bytesOf(waiting: readonly Waiter[]): number {
  return waiting.reduce((bytes, { heldBytes }) => bytes + heldBytes, 0)
}

/** Whether the bytes are within the share. An answer that is alone may exceed it. */
function isWithin(
  shares: Shares,
  name: string,
  { bytes, heldBytes }: Pick<Claim, 'bytes' | 'heldBytes'>,
): boolean {
  return shares.fits(bytes, name) || shares.heldBy(name) === heldBytes
}

interface Claim {
  /** Bytes that the answer requests. */
  readonly bytes: number
  /** Bytes that the answer has already. */
  readonly heldBytes: number
  /** Null: the answer counts for no caller. */
  readonly caller: Caller | null
}

type Settle = (isGranted: boolean) => void

interface Waiter extends Claim {
  readonly settle: Settle
}
