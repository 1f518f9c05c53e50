/** Servers of OpenAI's chat with the habits that public reports of agents name. */
import { isObject, membersOf, type Members } from '../../../../src/schemas/values/members.ts'
import { bodyOf, refusesChat } from '../../../support/inference/fake-chat.ts'
import type { FakeAnswer } from '../../../support/inference/fake-provider.ts'
import { chatRule } from './provider-rules.ts'
import { writesChat, type Stated } from './scripted-model.ts'

interface ChatServer {
  /** Members of a delta in which the model thinks; a server without them does not think. */
  readonly thinks?: (thought: string) => object
  /** Members of a delta with words; absent: `content` is a text. */
  readonly says?: (words: string) => object
  /** It thinks before each call of a tool. */
  readonly isAlwaysThinking?: true
  /** The message of its 400; null: it takes the request. */
  refuses(body: Members, asked: AskedEffort): string | null
}

export interface AskedEffort {
  /** The client's request names an effort. */
  readonly hasEffort: boolean
}

const EFFORTS: ReadonlySet<unknown> = new Set([undefined, null, 'low', 'medium', 'high'])

const CHAT_SERVERS = {
  deepseek: {
    thinks: (thought) => ({ reasoning_content: thought }),
    isAlwaysThinking: true,
    refuses: (body) =>
      turnsOf(body).some((turn) => 'tool_calls' in turn && !('reasoning_content' in turn))
        ? 'The `reasoning_content` in the thinking mode must be passed back to the API.'
        : null,
  },
  groq: {
    thinks: (thought) => ({ reasoning: thought }),
    refuses: (body) =>
      turnsOf(body).some((turn) => 'reasoning_content' in turn)
        ? "'messages.1' : for 'role:assistant' property 'reasoning_content' is unsupported"
        : null,
  },
  openrouter: {
    thinks: (thought) => ({
      reasoning: thought,
      reasoning_details: [{ type: 'reasoning.text', text: thought, format: 'unknown', index: 0 }],
    }),
    refuses: (body) =>
      'reasoning' in body && 'reasoning_effort' in body
        ? 'Only one of "reasoning" and "reasoning_effort" may be provided'
        : null,
  },
  sglang: {
    thinks: (thought) => ({ reasoning_content: thought }),
    refuses: (body) =>
      EFFORTS.has(body['reasoning_effort'])
        ? null
        : "body.reasoning_effort: Input should be 'low', 'medium' or 'high'",
  },
  mistral: {
    thinks: (thought) => ({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: thought }] }] }),
    says: (text) => ({ content: [{ type: 'text', text }] }),
    refuses: () => null,
  },
  vllm: {
    thinks: (thought) => ({ reasoning: thought }),
    // The server ignores `reasoning`: an effort that comes there alone is lost.
    refuses: (body, { hasEffort }) =>
      hasEffort && !('reasoning_effort' in body) ? 'The effort is lost: no reasoning_effort.' : null,
  },
} satisfies Readonly<Record<string, ChatServer>>

export type ChatServerName = keyof typeof CHAT_SERVERS
export const CHAT_SERVER_NAMES = Object.keys(CHAT_SERVERS) as readonly ChatServerName[]

export function answersAs(name: ChatServerName, text: () => Stated, asked: AskedEffort): FakeAnswer {
  const server: ChatServer = CHAT_SERVERS[name]
  const honest: FakeAnswer = (call, reply) => {
    const what = text()
    const thought = what.thought === '' && server.isAlwaysThinking === true ? 'Thought.' : what.thought
    return writesChat({ ...what, thought }, server)(call, reply)
  }
  return (call, reply) => {
    const body = bodyOf(call)
    const message = chatRule(body) ?? server.refuses(body, asked)
    return (message === null ? honest : refusesChat(400, { message }))(call, reply)
  }
}

/** Whether the request of a client asks for an effort of reasoning, in its own form. */
export function asksForEffort(first: Members): boolean {
  return [first['output_config'], first['reasoning']].some((one) => isObject(one) && 'effort' in one)
}

/**
 * The prompt as a server's template renders it for its model: tools first, then the turns, with parts of text
 * joined and without marks of a cache. What two prompts have in common from their beginning on is what a cache
 * of prefixes saves.
 */
export function renderedPrompt({ tools, messages }: Members): string {
  return [JSON.stringify(listOf(tools).map(unmarked)), ...listOf(messages).map(renderedTurn)].join('\n')
}

function renderedTurn({ content, ...more }: Members): string {
  const text = Array.isArray(content)
    ? listOf(content).map((part) => (part['type'] === 'text' ? part['text'] : JSON.stringify(unmarked(part))))
    : [content]
  return `${JSON.stringify(more)}${text.join('')}`
}

function unmarked({ cache_control: _, ...part }: Members): Members {
  return part
}

function listOf(value: unknown): readonly Members[] {
  return Array.isArray(value) ? value.map(membersOf) : []
}

/** The share of the first prompt that a later one begins with. */
export function sharedPrefix(first: string, later: string): number {
  let at = 0
  while (at < first.length && first[at] === later[at]) at++
  return at / first.length
}

function turnsOf({ messages }: Members): readonly Members[] {
  return listOf(messages).filter(({ role }) => role === 'assistant')
}
