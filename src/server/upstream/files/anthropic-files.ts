import { fail, ok } from '../../../schemas/failures.ts'
import { membersOf } from '../../../schemas/values/members.ts'
import { isSize, type FilesProtocol } from './protocol.ts'

const VERSION = '2023-06-01'
const BETA = 'files-api-2025-04-14'

export const anthropicFiles: FilesProtocol = {
  provider: 'anthropic',
  name: 'Anthropic',
  baseUrl: 'https://api.anthropic.com/v1',
  headers: (key) => ['x-api-key', key, 'anthropic-version', VERSION, 'anthropic-beta', BETA],
  fields({ expiresAfterS }) {
    if (expiresAfterS === null) return ok([])
    const issue = {
      path: '/expires_after',
      message: 'is not known to this provider',
      expected: 'no expires_after',
    }
    return fail('form_invalid', { metadata: { issues: [issue] } })
  },
  query({ after, before, ids, order, purpose, limit }) {
    const unknown = ids !== null ? 'ids' : order !== null ? 'order' : purpose !== null ? 'purpose' : null
    if (unknown !== null) {
      const issue = {
        path: `/${unknown}`,
        message: 'is not known to this provider',
        expected: `no ${unknown}`,
      }
      return fail('query_invalid', { metadata: { issues: [issue] } })
    }
    return ok(
      new URLSearchParams({
        limit: String(limit),
        ...(after !== null && { after_id: after }),
        ...(before !== null && { before_id: before }),
      }),
    )
  },
  readFile(value) {
    const {
      id,
      filename,
      mime_type: mimeType,
      size_bytes: sizeBytes,
      created_at: createdAtIso,
      downloadable,
    } = membersOf(value)
    const createdAt = new Date(typeof createdAtIso === 'string' ? createdAtIso : NaN)
    if (typeof id !== 'string' || typeof filename !== 'string' || Number.isNaN(createdAt.getTime()))
      return null
    return {
      id,
      filename,
      mimeType: typeof mimeType === 'string' ? mimeType : null,
      sizeBytes: isSize(sizeBytes) ? sizeBytes : null,
      createdAt,
      isDownloadable: downloadable === true,
      purpose: null,
    }
  },
}
