import type { MessagePort } from 'node:worker_threads'
import type { FailureName } from '../../schemas/failures.ts'

/** What a session's thread is given: a task of Piscina, whose port carries all the rest. */
export type SessionJob = IntakeJob | UnsealJob

export interface IntakeJob {
  readonly kind: 'intake'
  readonly port: MessagePort
  /** The file that the thread makes, writes and closes. */
  readonly path: string | null
  readonly seal: SealJob | null
  readonly content: 'refuse' | 'type' | 'any'
}

export interface SealJob {
  /** Moved here; cleared when the keys are derived. */
  readonly dataKey: Uint8Array
  readonly dataKeyId: string
  readonly objectId: string
  /** 32 bytes. */
  readonly salt: Uint8Array
}

export interface UnsealJob {
  readonly kind: 'unseal'
  readonly port: MessagePort
  /**
   * Shared with the main side, which closes it; null: `piece` messages bring the header and then the range.
   */
  readonly descriptor: number | null
  readonly dataKey: Uint8Array
  readonly dataKeyId: string
  readonly objectId: string
  readonly sizeBytes: number
  readonly objectBytes: number
  readonly from: number
  readonly to: number
}

/** To the thread. A cancelled session answers nothing more: its task ends. */
export type ToThread =
  | { readonly kind: 'ping' }
  | { readonly kind: 'cancel' }
  /** The first `length` bytes of the buffer; it is moved. */
  | { readonly kind: 'piece'; readonly bytes: ArrayBuffer; readonly length: number }
  /** Intake: that was the last piece. Unsealing: storage has no more. */
  | { readonly kind: 'end' }
  /**
   * Unsealing: room for one more piece of so many plain bytes, in the buffer of one that is worked off if it
   * is large enough.
   */
  | { readonly kind: 'more'; readonly bytes: number; readonly spare: ArrayBuffer | null }

/** From the thread. */
export type FromThread =
  /** The first message of every session. */
  | { readonly kind: 'begun'; readonly threadId: number }
  | { readonly kind: 'pong' }
  /** Intake: a piece is worked off, and its buffer may be used again. */
  | { readonly kind: 'spent'; readonly bytes: ArrayBuffer; readonly length: number }
  /** Unsealing: verified plain bytes. */
  | { readonly kind: 'piece'; readonly bytes: ArrayBuffer; readonly length: number }
  /** Unsealing without a descriptor: the next bytes are wanted. */
  | { readonly kind: 'pull' }
  | LastMessage

/** Comes once, when the thread has let go of everything. */
export type LastMessage =
  | {
      readonly kind: 'verdict'
      readonly mimeType: string
      readonly sizeBytes: number
      readonly sha256: string
    }
  | { readonly kind: 'opened' }
  | {
      readonly kind: 'failed'
      readonly name: FailureName
      readonly fields: Readonly<Record<string, string>>
      readonly cause: string
    }
  /** A system call failed. */
  | { readonly kind: 'system'; readonly code: string; readonly message: string }

/** A session as its thread sees it. What it throws ends it. */
export interface ThreadSession {
  receive(message: ToThread): void
  /**
   * Does one slice of work, about a millisecond. @returns false when there is nothing to do before the next
   * message
   */
  step(): boolean
  /** Closes and clears what it holds; called once, on every path. */
  release(): void
}

/** How a session speaks to its main side. */
export interface Voice {
  say(message: FromThread, moved?: ArrayBuffer): void
  /** Says it after everything is let go of, and ends the session. */
  end(message: LastMessage): void
}
