import { isUtf8 } from 'node:buffer'
import { endOfSpace, OPEN_OBJECT, WRONG, type Span } from '../../schemas/values/json-bytes.ts'
import { ObjectWalk, ODD, type Members } from './object-walk.ts'

const NO_BYTES = Buffer.alloc(0)

/**
 * A walk over an event, or over a whole answer: one object with nothing but space around it. What the walk
 * does not decide (names with escapes, members that come twice, several lines, bytes that are not UTF-8) is
 * written anew, and walked over again. D13, D14.
 */
export abstract class WholeWalk {
  /** What was walked over: the provider's bytes, or those bytes written anew. */
  bytes: Buffer = NO_BYTES
  protected readonly walk = new ObjectWalk()
  /** The opening brace. */
  protected start = 0
  /** Behind the closing brace. */
  protected end = 0

  /**
   * @param isOneLine the bytes have no line end in them
   * @returns false: the bytes are no JSON object, or have values that cannot be passed on
   */
  run(bytes: Buffer, isOneLine: boolean): boolean {
    const end = isOneLine && isUtf8(bytes) ? this.#begin(bytes) : ODD
    if (end !== ODD) return end !== WRONG
    const anew = this.anew(bytes)
    return anew !== null && this.#begin(anew) >= 0
  }

  /** Lets go of the bytes. What was counted stays. */
  release(): void {
    this.bytes = NO_BYTES
    this.walk.begin(NO_BYTES)
  }

  /** Walks over `bytes`. @returns their end, WRONG or ODD */
  protected abstract over(): number

  /** The bytes in the usual form; null: they have none. */
  protected abstract anew(bytes: Buffer): Buffer | null

  /** Walks over all bytes, whose members these are. */
  protected object(members: Members): number {
    this.start = endOfSpace(this.bytes, 0)
    if (this.bytes[this.start] !== OPEN_OBJECT) return ODD
    return this.ended(this.walk.object(members, this.start, 0, 1))
  }

  /** @param end of the object, or a fault */
  protected ended(end: number): number {
    if (end < 0) return end
    this.end = end
    return endOfSpace(this.bytes, end) === this.bytes.length ? end : WRONG
  }

  /** The part of the bytes; null: there is none. Valid as long as the bytes are. */
  protected partOf(span: Span | null): Buffer | null {
    return span === null ? null : this.bytes.subarray(span.start, span.end)
  }

  /** A text of JSON, decoded; null: there is none. */
  protected textOf(span: Span | null): string | null {
    return span === null ? null : (JSON.parse(this.bytes.toString('utf8', span.start, span.end)) as string)
  }

  #begin(bytes: Buffer): number {
    this.bytes = bytes
    this.walk.begin(bytes)
    return this.over()
  }
}
