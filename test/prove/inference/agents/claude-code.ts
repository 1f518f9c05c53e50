/** Claude Code, which speaks messages. */
import { join } from 'node:path'
import { API_PREFIX } from '../../../../src/schemas/api-prefix.ts'
import { bodyOf, PROMPT_TOKENS } from '../../../support/inference/fake-chat.ts'
import { answersMessages, messageEvents, refusesMessages } from '../../../support/inference/fake-messages.ts'
import type { FakeAnswer } from '../../../support/inference/fake-provider.ts'
import { streams } from '../../../support/inference/fake-stream.ts'
import { gives, type Block } from '../scenarios/messages-answers.ts'
import { startAgent, versionOf, type Agent, type AgentAnswers, type AgentInput } from './agent.ts'

/** Name of the program. */
const CLAUDE_CODE = 'claude'
/** Names of its tools. */
const SHELL = 'Bash'
const READ = 'Read'
const STRUCTURED = 'StructuredOutput'

/** @returns null: the program is not here */
export function claudeCode({ origin, key, model, home }: AgentInput): Agent | null {
  const version = versionOf(CLAUDE_CODE)
  if (version === null) return null
  const env = {
    // The agent adds `/v1/messages`.
    ANTHROPIC_BASE_URL: origin + API_PREFIX.replace(/\/v1$/, ''),
    ANTHROPIC_AUTH_TOKEN: key,
    ANTHROPIC_MODEL: model,
    ANTHROPIC_SMALL_FAST_MODEL: model,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    CLAUDE_CODE_MAX_RETRIES: '1',
    // It refuses to skip its questions as root elsewhere.
    IS_SANDBOX: '1',
  }
  return {
    name: `Claude Code ${version}`,
    answers,
    start: ({ prompt, schema, folder }) => {
      const args = ['-p', prompt, '--dangerously-skip-permissions', '--output-format', 'json']
      if (schema !== undefined) args.push('--json-schema', JSON.stringify(schema))
      return Promise.resolve(startAgent(CLAUDE_CODE, args, { folder, home, env }))
    },
  }
}

const answers: AgentAnswers = {
  isFirst: (call) => {
    const { tools = [], messages } = bodyOf(call) as { tools?: readonly object[]; messages: unknown }
    return tools.length > 0 && !JSON.stringify(messages).includes('"tool_result"')
  },
  calls: ({ thought, signature, command }) =>
    gives([{ type: 'thinking', thinking: thought, signature }, shell(command)], 'tool_use'),
  looks: (file) => gives([uses(READ, { file_path: file })], 'tool_use'),
  says: (words, plan) => answersMessages({ words }, plan),
  stalls: (words) => streams(messageEvents({ words }).slice(0, -3), { ending: 'silent' }),
  refuses: (message) => refusesMessages(400, { message }),
  structured(value) {
    const asTool = gives([uses(STRUCTURED, value)], 'tool_use')
    const asText: FakeAnswer = answersMessages({ words: [JSON.stringify(value)] })
    return (call, reply) => {
      const { tools = [] } = bodyOf(call) as { tools?: readonly { readonly name: string }[] }
      const hasTool = tools.some(({ name }) => name === STRUCTURED) && answers.isFirst(call)
      return (hasTool ? asTool : asText)(call, reply)
    }
  },
  session(folder) {
    const file = join(folder, 'one.txt')
    const steps: readonly (readonly Block[])[] = [
      [
        { type: 'thinking', thinking: 'Let me look.', signature: 'EqoBCkgIARABGAIiQL+/8=' },
        shell('echo one'),
      ],
      [{ type: 'text', text: 'Two at once.' }, shell('echo two'), uses('Glob', { pattern: '*.png' })],
      [uses('Write', { file_path: file, content: 'one\ntwo\n' })],
      [uses(READ, { file_path: file })],
      [uses('Edit', { file_path: file, old_string: 'two', new_string: 'three' })],
      [uses(READ, { file_path: join(folder, 'picture.png') })],
      [uses('TodoWrite', { todos: [{ content: 'Work', status: 'pending', activeForm: 'Working' }] })],
      [{ type: 'text', text: 'This one fails.' }, shell('exit 3')],
    ]
    return steps.map((blocks, nth) =>
      gives(
        blocks.map((block) => withId(block, nth)),
        'tool_use',
        `msg_${nth}`,
      ),
    )
  },
}

function shell(command: string): Block {
  return uses(SHELL, { command, description: 'Does it' })
}

/** Ids of calls are of the whole conversation. */
function withId(block: Block, nth: number): Block {
  return 'id' in block ? { ...block, id: `${String(block['id'])}${nth}` } : block
}

function uses(name: string, input: object): Block {
  return { type: 'tool_use', id: `toolu_${PROMPT_TOKENS}${name}`, name, input }
}
