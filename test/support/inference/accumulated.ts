/** Streams of answers, put together by the clients' own accumulators. */
import { ChatCompletionStream } from 'openai/lib/ChatCompletionStream'
import { ResponseStream } from 'openai/lib/responses/ResponseStream'
import { load } from '../wire/foreign-clients.ts'
import { addDetail, type ReasoningDetail } from '../../../src/dialects/chat/answer.ts'

export type Members = Readonly<Record<string, unknown>>

/** The JSON data of each event; what has no JSON is left out, as clients do. */
export function eventsIn(bytes: Uint8Array): readonly Members[] {
  const lines = Buffer.from(bytes).toString().split('\n')
  const data = lines.filter((line) => line.startsWith('data: {'))
  return data.map((line) => JSON.parse(line.slice('data: '.length)) as Members)
}

/** The form in which the clients write a stream down: a line of JSON for each event. */
function linesOf(events: readonly Members[]): ReadableStream {
  return new Blob(events.map((event) => `${JSON.stringify(event)}\n`)).stream()
}

/** The message of chat; entries of reasoning, which `openai` does not know, are joined by their index. */
export async function chatMessageOf(bytes: Uint8Array): Promise<Members> {
  const events = eventsIn(bytes).filter(({ choices }) => (choices as readonly object[]).length > 0)
  const stream = ChatCompletionStream.fromReadableStream(linesOf(events))
  const { choices } = await stream.finalChatCompletion()
  const { message, finish_reason } = choices[0] as unknown as { message: Members; finish_reason: string }
  const details: ReasoningDetail[] = []
  let reasoning = ''
  for (const event of events) {
    const [choice] = event['choices'] as readonly { readonly delta: Members }[]
    reasoning += String(choice?.delta['reasoning'] ?? '')
    for (const detail of (choice?.delta['reasoning_details'] ?? []) as readonly ReasoningDetail[])
      addDetail(details, detail)
  }
  const { content, refusal, tool_calls } = message
  return { content, refusal, tool_calls, finish_reason, reasoning, reasoning_details: details }
}

export async function responseOf(bytes: Uint8Array): Promise<Members> {
  const stream = ResponseStream.fromReadableStream(linesOf(eventsIn(bytes)))
  return (await stream.finalResponse()) as unknown as Members
}

interface MessagesClient {
  readonly MessageStream: {
    fromReadableStream(stream: ReadableStream): { finalMessage(): Promise<Members> }
  }
}

/** @returns puts a message together */
export async function messageReader(): Promise<(bytes: Uint8Array) => Promise<Members>> {
  const { MessageStream } = (await load('@anthropic-ai/sdk/lib/MessageStream')) as MessagesClient
  return (bytes) => MessageStream.fromReadableStream(linesOf(eventsIn(bytes))).finalMessage()
}
