import { fail, ok, type Outcome } from '../../schemas/failures.ts'
import { FILE_BYTES_MAX } from '../../schemas/files/file-limits.ts'
import { expiresAfterOf } from '../../schemas/files/file-expiry.ts'
import { NAMELESS } from '../../schemas/files/filenames.ts'
import { purposeOf } from '../../schemas/files/files.ts'
import type { Upload } from '../ports/byte-streams.ts'
import type { FileRecord } from '../ports/files/files.ts'
import type { Stored, StoreInput } from '../ports/files/transfer.ts'
import { FileWriting, type Written } from './file-writing.ts'
import type { TransferDeps } from './transfer-deps.ts'
import { digestOf, receive, type Received } from './receive.ts'

/** Stores an upload, or compares it with what the same `Idempotency-Key` has stored. C16. */
export async function storeFile(
  deps: TransferDeps,
  upload: Upload,
  input: StoreInput,
): Promise<Outcome<Stored>> {
  const { workspaceId, idempotency, signal } = input
  const { bytesAtMost, slackBytes } = upload
  const { files } = deps
  const begun = await files.begin({
    workspaceId,
    reserveBytes: bytesAtMost ?? 0,
    slackBytes,
    idempotency,
    signal,
  })
  if (!begun.ok) return begun
  if (begun.value.kind === 'replay') return compare(deps, upload, begun.value.file)
  const row = begun.value.upload
  const reservation = {
    get bytes() {
      return row.reservedBytes
    },
    extend: (bytes: number) => files.extend(row, bytes, signal),
  }
  const stored = await new FileWriting(deps, row, signal).run({
    content: 'refuse',
    bytesAtMost: bytesAtMost ?? FILE_BYTES_MAX,
    async fill(session) {
      const received = await receive(upload, session, reservation)
      return received.ok ? ok(writtenOf(received.value)) : received
    },
  })
  return stored.ok ? ok({ file: stored.value, isReplay: false }) : stored
}

async function compare({ intake }: TransferDeps, upload: Upload, file: FileRecord): Promise<Outcome<Stored>> {
  const sha256 = await digestOf(intake, upload, file.workspaceId)
  if (!sha256.ok) return sha256
  return sha256.value === file.sha256 ? ok({ file, isReplay: true }) : fail('idempotency_mismatch')
}

function writtenOf({ filename, fields, verdict }: Received): Written {
  return {
    filename: filename ?? NAMELESS,
    purpose: purposeOf(fields),
    expiresAfterS: expiresAfterOf(fields),
    isDownloadable: false,
    verdict,
  }
}
