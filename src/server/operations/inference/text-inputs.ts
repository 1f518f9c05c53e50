import { fail, ok, type FailureName, type Outcome, type Failure } from '../../../schemas/failures.ts'
import type { FileReference } from '../../../schemas/inference/file-references.ts'
import {
  INFERENCE_BODY_BYTES_MAX,
  INLINE_FILE_BYTES_MAX,
} from '../../../schemas/inference/inference-limits.ts'
import {
  inlineBytesMin,
  inlineFormOf,
  sizeWithFiles,
  typesTaken,
  WITH_FILES,
} from '../../../schemas/inference/inline-files.ts'
import type { CompleteText, TextRequest } from '../../../schemas/inference/text-request.ts'
import { hasScope, scopesText, type KeyScope } from '../../../schemas/keys/permissions.ts'
import type { FileRecord } from '../../ports/files/files.ts'
import type { InlineFile, PresetBy } from '../../ports/inference/inference.ts'
import type { Ports } from '../../ports/ports.ts'
import { ownWorkspaceOf, type Call } from '../define.ts'
import type { KeyRecord } from '../../ports/keys/keys.ts'
import type { CallableModel } from '../../ports/models/models.ts'
import { callableModel, type KnownModels } from '../model-calls.ts'
import { callerOf } from '../../../schemas/values/callers.ts'
import { isComplete, usedPreset } from '../apply-preset.ts'
import { pointerOf } from '../../../schemas/values/json-path.ts'

/** Failures of files and media URLs in a call, in addition to the failures of every call. */
export const INLINE_FILE_FAILURES = [
  'regional_refused',
  'file_unknown',
  'file_too_large',
  'body_too_large',
  'content_missing',
  'content_damaged',
  'data_key_unavailable',
  'storage_unavailable',
  'input_unsupported',
  'media_unavailable',
] as const satisfies readonly FailureName[]

export interface TextWithFiles {
  /** Its size includes the files. */
  readonly body: CompleteText
  /** Absent: it names none. */
  readonly files?: readonly InlineFile[]
}

type FilesCall = Pick<Call, 'key' | 'isRegional'>
type FilesPorts = Pick<Ports, 'files' | 'transfers'>

/** The scope that downloads need: a model could repeat the content of a file that the key may not read. */
const READ: readonly KeyScope[] = ['files:read']

/**
 * Finds the files of a request: they must belong to the key's workspace, have types that their places in the
 * request accept, and be small enough. Their content is not read. D31. Failures: regional_refused,
 * scope_missing, body_invalid, store_unavailable, file_unknown, file_too_large, body_too_large.
 */
export async function withFiles(
  { key, isRegional }: FilesCall,
  body: CompleteText,
  ports: FilesPorts,
): Promise<Outcome<TextWithFiles>> {
  const { files: references = [] } = body
  // As a download is.
  if (isRegional) return fail('regional_refused')
  if (!hasScope(key.scopes, READ)) return fail('scope_missing', { fields: { scope: scopesText(READ) } })
  const workspaceId = ownWorkspaceOf(key)
  const ids = [...new Set(references.map(({ id }) => id))]
  const listed = await ports.files.list(workspaceId, { after: null, ids, limit: ids.length })
  if (!listed.ok) return listed
  const records = new Map(listed.value.files.map((file) => [file.id, file]))
  const files: InlineFile[] = []
  let bytes = body.source.bytes.length
  for (const reference of references) {
    const record = records.get(reference.id)
    if (record === undefined) return unknown(reference)
    const { mimeType, sizeBytes } = record
    const form = inlineFormOf(reference.use, mimeType)
    if (form === null) return refusedType(reference)
    if (sizeBytes > INLINE_FILE_BYTES_MAX) return tooLarge(reference)
    bytes += inlineBytesMin(form, sizeBytes)
    files.push(inlineFile(reference, record, ports))
  }
  if (bytes > INFERENCE_BODY_BYTES_MAX)
    return fail('body_too_large', { fields: { limit: INFERENCE_BODY_BYTES_MAX }, detail: WITH_FILES })
  return ok({ body: { ...body, size: sizeWithFiles(body.size, files) }, files })
}

function inlineFile(
  reference: FileReference,
  record: FileRecord,
  { files, transfers }: FilesPorts,
): InlineFile {
  const { workspaceId, id, filename, mimeType, sizeBytes } = record
  return {
    ...reference,
    filename: filename.slice(filename.lastIndexOf('/') + 1),
    mimeType,
    sizeBytes,
    async open(signal) {
      const opened = await transfers.openFile(record, signal)
      if (opened.ok || opened.failure.name !== 'content_missing') return opened
      // The file may have been removed since the request began.
      const found = await files.get(workspaceId, id)
      return !found.ok && found.failure.name === 'file_unknown' ? unknown(reference) : opened
    },
  }
}

/** The same failure for a file of another workspace: its existence is not revealed. */
function unknown(reference: FileReference): Outcome<never> {
  return refused('file_unknown', reference, {
    message: 'does not name a file of this workspace',
    expected: 'the id of a file',
  })
}

function refusedType(reference: FileReference): Outcome<never> {
  return refused('body_invalid', reference, {
    message: 'refers to a file of an unsupported type',
    expected: typesTaken(reference.use),
  })
}

function tooLarge(reference: FileReference): Outcome<never> {
  const issue = {
    message: 'refers to a file that is too large',
    expected: `at most ${INLINE_FILE_BYTES_MAX} bytes`,
  }
  return refused('file_too_large', reference, issue)
}

function refused(
  name: FailureName,
  { at }: FileReference,
  issue: { readonly message: string; readonly expected: string },
): Outcome<never> {
  return fail(name, {
    fields: { limit: INLINE_FILE_BYTES_MAX },
    metadata: { issues: [{ path: pointerOf([...at, 'file_id']), ...issue }] },
  })
}

interface Asked {
  readonly key: KeyRecord
  readonly body: Pick<CompleteText, 'model' | 'models' | 'hasFallbacks'>
}

/**
 * The models of a call in the order to try them: `model`, then `models`. Every model has to be one that the
 * key may call: a call that could end at a forbidden model is refused before anything is sent. Failures: those
 * of `callableModel`; for a member of `models` and for the provider's `fallbacks` the issue has its path. D2,
 * D11.
 */
export function callableModels(
  { key, body }: Asked,
  known: KnownModels,
  ports: Pick<Ports, 'models'>,
): Outcome<readonly [CallableModel, ...CallableModel[]]> {
  const first = callableModel({ name: body.model, makes: 'texts', key }, known, ports)
  if (!first.ok) return first
  const { allowedModels } = key
  // The provider itself chooses among fallback models, by names that Sluice cannot check.
  if (body.hasFallbacks && allowedModels !== null) return FALLBACKS_REFUSED
  const others: CallableModel[] = []
  for (const [at, name] of body.models.entries()) {
    const found = callableModel({ name, makes: 'texts', key }, known, ports)
    if (!found.ok) return { ok: false, failure: atPath(`/models/${at}`, found.failure) }
    others.push(found.value)
  }
  return { ok: true, value: [first.value, ...others] }
}

const FALLBACKS_REFUSED = fail('model_not_allowed', {
  metadata: {
    issues: [{ path: '/fallbacks', message: 'could reach other models', expected: '`models`, or no value' }],
  },
})

function atPath(path: string, failure: Failure): Failure {
  const issue = { path, message: 'cannot be used for this call', expected: 'a model your key may call' }
  return { ...failure, metadata: { ...failure.metadata, issues: [issue] } }
}

type TextCall = Pick<Call<undefined, undefined, TextRequest>, 'key' | 'body' | 'signal' | 'isRegional'>

type TextPorts = Pick<Ports, 'inference' | 'presetConfigs' | 'files' | 'transfers'>

type Completed = Outcome<TextWithFiles>

type PresetUse = Pick<PresetBy, 'isCount'>

const OF_CALL: PresetUse = {}

/**
 * The body of a call, with missing fields filled from its preset, and with its files. Not a promise when the
 * body names neither. Failures: those of `PRESET_USE_FAILURES`, of `Inference.withPreset` and of `withFiles`.
 * D10, D31.
 */
export function completeText(
  call: TextCall,
  ports: TextPorts,
  use: PresetUse = OF_CALL,
): Completed | Promise<Completed> {
  const { body } = call
  return isCompleteText(body) ? found(call, body, ports) : withPreset(call, ports, use)
}

function found(call: TextCall, body: CompleteText, ports: TextPorts): Completed | Promise<Completed> {
  return body.files === undefined ? ok({ body }) : withFiles(call, body, ports)
}

function isCompleteText(body: TextRequest): body is CompleteText {
  return isComplete(body)
}

async function withPreset(call: TextCall, ports: TextPorts, { isCount }: PresetUse): Promise<Completed> {
  const used = await usedPreset(call, ports)
  if (!used.ok) return used
  const { model, content } = used.value
  const { key, body, signal } = call
  const by = { caller: callerOf(key), signal, ...(isCount === true && { isCount }) }
  const merged = await ports.inference.withPreset(body, { content, model }, by)
  return merged.ok ? found(call, merged.value, ports) : merged
}
