/** A front with fake providers over real files, which calls name by their ids. */
import type { FileRecord } from '../../../src/server/ports/files/files.ts'
import type { Transfers } from '../../../src/server/ports/files/transfer.ts'
import type { Dialect } from '../../../src/schemas/inference/text-request.ts'
import { PushedUpload } from '../files/pushed-upload.ts'
import { openTransfers, type TransferStand } from '../files/transfers.ts'
import { must } from '../must.ts'
import { openChatProvider, type ChatProviderFront, type ChatProviderOptions } from './chat-provider-front.ts'
import { answersResponses } from './fake-responses.ts'
import { openMessagesProvider } from './messages-front.ts'

export interface InlineFilesFront extends ChatProviderFront {
  readonly stand: TransferStand
  /** Stores a file of the key's workspace, unless another one is named. */
  store(content: Uint8Array | string, name: string, workspaceId?: string): Promise<FileRecord>
}

export interface InlineFilesOptions extends ChatProviderOptions {
  /** Puts something between calls and the files. */
  readonly watch?: (transfers: Transfers) => Transfers
}

export async function openInlineFiles(
  t: Parameters<typeof openTransfers>[0],
  dialect: Dialect,
  { watch = (transfers) => transfers, ...options }: InlineFilesOptions = {},
): Promise<InlineFilesFront> {
  const stand = await openTransfers(t)
  const { workspaceId } = stand
  const all: ChatProviderOptions = {
    files: { files: stand.files, transfers: watch(stand.transfers) },
    ...options,
    keys: { workspaceId, defaultWorkspaceId: workspaceId, ...options.keys },
  }
  const front = await openAs(t, dialect, all)
  return {
    ...front,
    stand,
    async store(content, name, owner = workspaceId) {
      const upload = new PushedUpload({ pieces: piecesOf(Buffer.from(content)), filename: name })
      const input = { workspaceId: owner, signal: new AbortController().signal, idempotency: null }
      return must(await stand.transfers.store(upload, input)).file
    },
  }
}

async function openAs(
  t: Parameters<typeof openChatProvider>[0],
  dialect: Dialect,
  options: ChatProviderOptions,
): Promise<ChatProviderFront> {
  if (dialect === 'messages') return openMessagesProvider(t, { path: '/messages', ...options })
  if (dialect === 'chat') return openChatProvider(t, options)
  const front = await openChatProvider(t, {
    path: '/responses',
    providers: { speaks: ['responses'] },
    ...options,
  })
  front.first.usually(answersResponses())
  front.second.usually(answersResponses())
  return front
}

const PIECE_BYTES = 1_048_576

function* piecesOf(content: Buffer): Generator<Buffer> {
  for (let at = 0; at < content.length; at += PIECE_BYTES) yield content.subarray(at, at + PIECE_BYTES)
}
