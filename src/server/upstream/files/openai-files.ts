import { fail, ok } from '../../../schemas/failures.ts'
import { expiryFields } from '../../../schemas/files/file-expiry.ts'
import { PURPOSE_DEFAULT } from '../../../schemas/files/files.ts'
import { membersOf } from '../../../schemas/values/members.ts'
import { bearer } from '../credential.ts'
import { isSize, type FilesProtocol } from './protocol.ts'

/** Purposes whose files cannot be downloaded from OpenAI. OpenAI's own refusal decides; this set only informs the caller. */
const KEPT_PURPOSES: ReadonlySet<unknown> = new Set(['assistants', 'vision', PURPOSE_DEFAULT])

/** OpenAI's `/files`, and that of every server with the same protocol. */
export const openAiFiles: FilesProtocol = {
  provider: 'openai',
  name: 'OpenAI',
  baseUrl: 'https://api.openai.com/v1',
  headers: bearer,
  // OpenAI refuses uploads without a purpose.
  fields: ({ purpose, expiresAfterS }) =>
    ok([['purpose', purpose ?? PURPOSE_DEFAULT], ...expiryFields(expiresAfterS)]),
  query({ after, before, ids, order, purpose, limit }) {
    if (before !== null || ids !== null) {
      const [name, expected] = ids === null ? ['before_id', 'after_id, after or cursor'] : ['ids', 'no ids']
      const issue = { path: `/${name}`, message: 'is not known to this provider', expected }
      return fail('query_invalid', { metadata: { issues: [issue] } })
    }
    return ok(
      new URLSearchParams({
        limit: String(limit),
        ...(after !== null && { after }),
        ...(order !== null && { order }),
        ...(purpose !== null && { purpose }),
      }),
    )
  },
  readFile(value) {
    const { id, bytes, created_at: seconds, expires_at: expirySeconds, filename, purpose } = membersOf(value)
    const createdAt = new Date(isSize(seconds) ? seconds * 1_000 : NaN)
    if (typeof id !== 'string' || typeof filename !== 'string' || Number.isNaN(createdAt.getTime()))
      return null
    return {
      id,
      filename,
      mimeType: null,
      // Null while OpenAI still processes the file.
      sizeBytes: isSize(bytes) ? bytes : null,
      createdAt,
      isDownloadable: !KEPT_PURPOSES.has(purpose),
      purpose: typeof purpose === 'string' ? purpose : null,
      // Null or absent for a file without expiry.
      expiresAt: isSize(expirySeconds) ? new Date(expirySeconds * 1_000) : null,
    }
  },
}
