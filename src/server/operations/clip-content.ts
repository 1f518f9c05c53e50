import { ok, type Outcome } from '../../schemas/failures.ts'
import type { FileRecord } from '../ports/files/files.ts'
import type { Ports } from '../ports/ports.ts'
import type { VideoOutput } from '../ports/videos/videos.ts'
import type { Success } from './define.ts'

const MP4 = 'video/mp4'

/** A stored clip as a download; the caller of this function has checked the access. Failures: those of `Transfers.openFile`. */
export async function openClip(
  output: VideoOutput,
  transfers: Pick<Ports['transfers'], 'openFile'>,
  signal: AbortSignal,
): Promise<Outcome<Success>> {
  const file = fileOf(output)
  const content = await transfers.openFile(file, signal)
  return content.ok
    ? ok({ kind: 'content', content: content.value, contentType: MP4, filename: file.filename })
    : content
}

/** A clip is stored in the same way as files. */
function fileOf({
  jobId,
  index,
  objectId,
  workspaceId,
  dataKeyId,
  sizeBytes,
  sha256,
  createdAt,
}: VideoOutput): FileRecord {
  return {
    id: objectId,
    workspaceId,
    filename: `${jobId}-${index}.mp4`,
    mimeType: MP4,
    sizeBytes,
    sha256,
    dataKeyId,
    isDownloadable: true,
    purpose: null,
    createdAt,
  }
}
