import type { Caller } from '../../schemas/values/callers.ts'
import { Shares } from '../../schemas/values/shares.ts'

/** Share of the budget that only small answers may use, and what is small: a share of it too. Decision. */
const RESERVE_SHARE = 1 / 8
const SMALL_SHARE = 1 / 256
/**
 * Of the budget for answers so much may be held for one organization; an answer that begins also needs room
 * in what one workspace of it and one key may hold. The only answer of one of them may be larger: one of 128
 * MiB has to pass. Decision.
 */
const ANSWERS_ORGANIZATION_SHARE = 1 / 2
const ANSWERS_WORKSPACE_SHARE = 7 / 16
const ANSWERS_KEY_SHARE = 3 / 8

/**
 * Bytes of answers that one front holds at once, all together and for each organization, workspace and key.
 * Design §4. An answer that has begun may grow past those that wait to begin: it is the one that will end and
 * give back. Small answers, up to 1 MiB of 256, pass those that wait and have a reserve, so that no large one
 * stops them. One that waits for its caller's share stops those of its key alone. When all that is held, by
 * all or by one organization that has its share, belongs to answers that wait for more, the last of them is
 * refused: nobody else would end.
 */
export class AnswerBudget {
  readonly #bytesMax: number
  readonly #organizations: Shares
  readonly #workspaces: Shares
  readonly #keys: Shares
  readonly #waiting: Waiter[] = []
  #heldBytes = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
    this.#organizations = new Shares(bytesMax * ANSWERS_ORGANIZATION_SHARE)
    this.#workspaces = new Shares(bytesMax * ANSWERS_WORKSPACE_SHARE)
    this.#keys = new Shares(bytesMax * ANSWERS_KEY_SHARE)
  }

  get heldBytes(): number {
    return this.#heldBytes
  }

  /**
   * Takes room for an answer that begins; false when there is none, or when others wait for it already.
   * @param caller null: nobody's, of which all may be held
   */
  take(bytes: number, caller: Caller | null = null): boolean {
    const claim = { bytes, heldBytes: 0, caller }
    return !this.#waiting.some((waiter) => this.#isBefore(waiter, claim)) && this.grow(claim)
  }

  /** Takes more room for an answer that has some. */
  grow(claim: Claim): boolean {
    if (!this.#isFree(claim) || !this.#isShared(claim)) return false
    this.#count(claim.bytes, claim.caller)
    return true
  }

  /**
   * Waits for room, in order of asking.
   * @param claim more bytes, and those that the answer has already
   * @param told whether it has them, once; false when it never could. It may be called before this returns.
   * @returns a function that stops waiting; harmless after `told`
   */
  wait(claim: Claim, told: Told): () => void {
    const waiter = { ...claim, told }
    this.#waiting.push(waiter)
    this.#untie(claim.caller)
    return () => {
      const at = this.#waiting.indexOf(waiter)
      if (at === -1) return
      this.#waiting.splice(at, 1)
      // The one that left may have stood before others that fit.
      this.#grant(waiter.caller)
    }
  }

  give(bytes: number, caller: Caller | null = null): void {
    this.#count(-bytes, caller)
    if (this.#waiting.length > 0) this.#grant(caller)
  }

  #count(bytes: number, caller: Caller | null): void {
    this.#heldBytes += bytes
    if (caller === null) return
    this.#organizations.add(bytes, caller.organizationId)
    this.#workspaces.add(bytes, caller.workspaceId)
    this.#keys.add(bytes, caller.key)
  }

  #isSmall({ bytes, heldBytes }: Claim): boolean {
    return heldBytes + bytes <= this.#bytesMax * SMALL_SHARE
  }

  /** It waits for what the other one asks for. */
  #isBefore(waiter: Waiter, claim: Claim): boolean {
    if (this.#isSmall(claim) && !this.#isSmall(waiter)) return false
    return this.#isShared(waiter) || waiter.caller?.key === claim.caller?.key
  }

  #isFree(claim: Claim): boolean {
    const { bytes, heldBytes } = claim
    const most = this.#isSmall(claim) ? this.#bytesMax : this.#bytesMax * (1 - RESERVE_SHARE)
    // What is larger than all that it may use goes alone.
    if (this.#heldBytes + bytes > most && this.#heldBytes > heldBytes) return false
    return this.#heldBytes + bytes <= this.#bytesMax
  }

  /**
   * It keeps to its caller's shares. One that has begun keeps to the organization's alone: of answers that
   * wait for each other in several ways none would end.
   */
  #isShared({ bytes, heldBytes, caller }: Claim): boolean {
    if (caller === null) return true
    const { organizationId, workspaceId, key } = caller
    if (!isWithin(this.#organizations, organizationId, { bytes, heldBytes })) return false
    if (heldBytes > 0) return true
    return (
      isWithin(this.#workspaces, workspaceId, { bytes, heldBytes }) &&
      isWithin(this.#keys, key, { bytes, heldBytes })
    )
  }

  /**
   * In order; a large one that does not fit stops the large ones behind it, of all or of its key, and no
   * small one.
   */
  #grant(caller: Caller | null): void {
    let isBlocked = false
    const behind = new Set<string>()
    for (const waiter of [...this.#waiting]) {
      const at = this.#waiting.indexOf(waiter)
      const isBehind = isBlocked || (waiter.caller !== null && behind.has(waiter.caller.key))
      // A grant may end another answer, which then waits no more.
      if (at === -1 || (isBehind && !this.#isSmall(waiter))) continue
      if (this.grow(waiter)) {
        this.#waiting.splice(at, 1)
        waiter.told(true)
      } else if (waiter.caller === null || this.#isShared(waiter)) isBlocked = true
      else behind.add(waiter.caller.key)
    }
    this.#untie(caller)
  }

  /**
   * While nobody is left who could give something back, of all or of the organization: whoever fits goes on,
   * else the last one is refused.
   */
  #untie(caller: Caller | null): void {
    for (let tied = this.#tied(caller); tied.length > 0; tied = this.#tied(caller)) {
      const fitting = tied.find((waiter) => this.grow(waiter))
      const next = fitting ?? tied.findLast(({ heldBytes }) => heldBytes > 0) ?? tied.at(-1)
      if (next === undefined) return
      this.#waiting.splice(this.#waiting.indexOf(next), 1)
      next.told(fitting !== undefined)
    }
  }

  /** Those that wait for each other; none where somebody else may end and give back. */
  #tied(caller: Caller | null): readonly Waiter[] {
    if (bytesOf(this.#waiting) === this.#heldBytes) return this.#waiting
    if (caller === null) return []
    const { organizationId } = caller
    const own = this.#waiting.filter((waiter) => waiter.caller?.organizationId === organizationId)
    const isTied =
      own.every((waiter) => !this.#isShared(waiter)) &&
      bytesOf(own) === this.#organizations.heldBy(organizationId)
    return isTied ? own : []
  }
}

function bytesOf(waiting: readonly Waiter[]): number {
  return waiting.reduce((bytes, { heldBytes }) => bytes + heldBytes, 0)
}

/** What is alone may be larger than the share. */
function isWithin(
  shares: Shares,
  name: string,
  { bytes, heldBytes }: Pick<Claim, 'bytes' | 'heldBytes'>,
): boolean {
  return shares.fits(bytes, name) || shares.heldBy(name) === heldBytes
}

interface Claim {
  /** That it asks for, and that it has already. */
  readonly bytes: number
  readonly heldBytes: number
  /** Null: nobody's. */
  readonly caller: Caller | null
}

type Told = (isGranted: boolean) => void

interface Waiter extends Claim {
  readonly told: Told
}
