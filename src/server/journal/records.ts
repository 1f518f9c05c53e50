import { crc32 } from 'node:zlib'
import type { GiveBack, Settlement } from '../ports/money/journal.ts'
import type { OpenTake, PaidFrom, TakeProgress } from '../ports/money/lending.ts'
import { Unpacker } from './packing.ts'
import { FRAME_BYTES, KIND, LENGTH_MASK } from './record-buffer.ts'
import type { TextTokens } from '../ports/money/money.ts'

export type JournalRecord =
  | { readonly kind: 'take'; readonly id: number; readonly take: OpenTake }
  | { readonly kind: 'progress'; readonly id: number; readonly progress: TakeProgress }
  | { readonly kind: 'settle'; readonly id: number; readonly entry: Settlement }
  | { readonly kind: 'release'; readonly id: number }
  | { readonly kind: 'give_back'; readonly entry: GiveBack }
  | { readonly kind: 'head'; readonly body: Unpacker }
  | { readonly kind: 'sealed' }
  | { readonly kind: 'mark' }

/**
 * The content at a position of a segment. `cut`: less than a whole record, left by a process that died while
 * writing. `damaged`: bytes that were never written like this; a plausible length shows where the next record
 * begins.
 */
export type Found =
  | { readonly kind: 'record'; readonly record: JournalRecord; readonly bytes: number }
  | { readonly kind: 'cut' }
  | { readonly kind: 'damaged'; readonly bytes: number | null }

export function recordAt(bytes: Buffer, at: number): Found {
  if (bytes.length - at < FRAME_BYTES) return { kind: 'cut' }
  const length = bytes.readUInt16LE(at)
  if ((length ^ LENGTH_MASK) !== bytes.readUInt16LE(at + 2) || length === 0)
    return { kind: 'damaged', bytes: null }
  const size = FRAME_BYTES + length
  if (bytes.length - at < size) return { kind: 'cut' }
  const body = bytes.subarray(at + FRAME_BYTES, at + size)
  const record = crc32(body) === bytes.readUInt32LE(at + 4) ? decoded(body) : null
  return record === null ? { kind: 'damaged', bytes: size } : { kind: 'record', record, bytes: size }
}

/** Null when this version does not write such a body: it is treated as damaged. */
function decoded(body: Buffer): JournalRecord | null {
  const from = new Unpacker(body)
  try {
    const record = bodyOf(from)
    return record === null || record.kind === 'head' || from.isAtEnd ? record : null
  } catch (problem) {
    if (problem instanceof RangeError) return null
    throw problem
  }
}

function bodyOf(from: Unpacker): JournalRecord | null {
  switch (from.byte()) {
    case KIND.head:
      return { kind: 'head', body: from }
    case KIND.take:
      return takeOf(from)
    case KIND.progress:
      return progressOf(from)
    case KIND.settle:
      return settleOf(from, false)
    case KIND.settleText:
      return settleOf(from, true)
    case KIND.release:
      return { kind: 'release', id: from.number() }
    case KIND.giveBack:
      return {
        kind: 'give_back',
        entry: { kind: 'give_back', day: from.text(), accountId: from.text(), amountNano: from.count() },
      }
    case KIND.sealed:
      return { kind: 'sealed' }
    case KIND.mark:
      return { kind: 'mark' }
    default:
      return null
  }
}

function takeOf(from: Unpacker): JournalRecord {
  const id = from.number()
  const call = callOf(from)
  const amounts = { organization: from.count(), workspace: from.count(), key: from.count() }
  return { kind: 'take', id, take: { ...call, amounts } }
}

function progressOf(from: Unpacker): JournalRecord {
  const [id, atMs, provider, model] = [from.number(), from.number(), from.text(), from.text()]
  const [tokens, text, milliseconds] = [from.count(), textTokensOf(from), from.count()]
  const [costNano, paid, flags, note] = [from.count(), paidOf(from.byte()), from.byte(), from.text()]
  const [isByok, isDrained] = [(flags & 1) !== 0, (flags & 2) !== 0]
  const counts = { tokens, text, milliseconds, costNano }
  return {
    kind: 'progress',
    id,
    progress: { atMs, provider, model, ...counts, isByok, isDrained, paid, note },
  }
}

function settleOf(from: Unpacker, isText: boolean): JournalRecord {
  const id = from.number()
  const call = callOf(from)
  const [provider, tokens, milliseconds] = [from.text(), from.count(), from.count()]
  const [costNano, overrunNano, flags] = [from.count(), from.count(), from.byte()]
  const [isByok, isEstimated] = [(flags & 1) !== 0, (flags & 2) !== 0]
  return {
    kind: 'settle',
    id,
    entry: {
      kind: 'settle',
      ...call,
      provider,
      tokens,
      milliseconds,
      costNano,
      overrunNano,
      isByok,
      isEstimated,
      ...(isText ? { text: textTokensOf(from) } : null),
    },
  }
}

function callOf(from: Unpacker) {
  const [day, atMs, requestId, operation] = [from.text(), from.number(), from.text(), from.text()]
  const [organizationId, workspaceId, keyHash, keyAccountId] = [
    from.text(),
    from.text(),
    from.text(),
    from.text(),
  ]
  const [model, paid] = [from.text(), paidOf(from.byte())]
  return { day, atMs, requestId, operation, organizationId, workspaceId, keyHash, keyAccountId, model, paid }
}

function textTokensOf(from: Unpacker): TextTokens {
  return { outputTokens: from.count(), cachedTokens: from.count() }
}

function paidOf(flags: number): PaidFrom {
  return { organization: (flags & 1) !== 0, workspace: (flags & 2) !== 0, key: (flags & 4) !== 0 }
}
