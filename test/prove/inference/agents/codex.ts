/** Codex, which speaks responses. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { API_PREFIX } from '../../../../src/schemas/api-prefix.ts'
import { bodyOf, refusesChat } from '../../../support/inference/fake-chat.ts'
import { answersResponses, responseEvents, tellsResponse } from '../../../support/inference/fake-responses.ts'
import { messageEvents } from '../../../support/inference/responses-streams.ts'
import { answers as answersWith, customCall, thought, toolCall } from '../scenarios/responses-answers.ts'
import { startAgent, versionOf, type Agent, type AgentAnswers, type AgentInput } from './agent.ts'

/** Name of the program. */
const CODEX = 'codex'
const KEY = 'SLUICE_KEY'
/** Name of its shell. */
const SHELL = 'exec_command'

/** @returns null: the program is not here */
export async function codex({ origin, key, model, home }: AgentInput): Promise<Agent | null> {
  const version = versionOf(CODEX)
  if (version === null) return null
  await mkdir(join(home, '.codex'), { recursive: true })
  const lines = [
    `model = "${model}"`,
    'model_provider = "sluice"',
    'model_reasoning_effort = "low"',
    '[model_providers.sluice]',
    'name = "Sluice"',
    `base_url = "${origin}${API_PREFIX}"`,
    `env_key = "${KEY}"`,
    'wire_api = "responses"',
    'request_max_retries = 1',
    'stream_max_retries = 1',
  ]
  await writeFile(join(home, '.codex', 'config.toml'), lines.join('\n'))
  return {
    name: `Codex ${version}`,
    answers,
    async start({ prompt, image, schema, folder }) {
      const args = ['exec', '--dangerously-bypass-approvals-and-sandbox', '--skip-git-repo-check', prompt]
      if (image !== undefined) args.push('--image', image)
      if (schema !== undefined) {
        const file = join(home, 'schema.json')
        await writeFile(file, JSON.stringify(schema))
        args.push('--output-schema', file)
      }
      return startAgent(CODEX, args, { folder, home, env: { [KEY]: key } })
    },
  }
}

const answers: AgentAnswers = {
  isFirst: (call) => {
    const { tools = [], input } = bodyOf(call) as { tools?: readonly object[]; input: unknown }
    return tools.length > 0 && !JSON.stringify(input).includes('"function_call_output"')
  },
  calls: ({ thought: text, signature, command }) =>
    answersWith([...thought(text, signature), ...toolCall(1, { name: SHELL, argument: { cmd: command } })]),
  looks: () => null,
  says: (words, plan) => answersResponses({ words }, plan),
  stalls(words) {
    const events = responseEvents({ words })
    const last = events.findLastIndex(({ event }) => event === 'response.output_text.delta')
    return tellsResponse(events.slice(0, last + 1), { ending: 'silent' })
  },
  refuses: (message) => refusesChat(400, { message, code: 'odd_prompt' }),
  structured: (value) => answersResponses({ words: [JSON.stringify(value)] }),
  session(folder) {
    const shell = (index: number, cmd: string) =>
      toolCall(index, { id: `call_${cmd.replaceAll(' ', '_')}`, name: SHELL, argument: { cmd } })
    const plan = { plan: [{ step: 'Work', status: 'in_progress' }] }
    const patch = '*** Begin Patch\n*** Add File: one.txt\n+one\n*** End Patch\n'
    return [
      [...thought('Let me look.', 'gAAAAABo+signed/reasoning='), ...shell(1, 'echo one')],
      [...messageEvents(['Two', ' at', ' once.'], 0), ...shell(1, 'echo two'), ...shell(2, 'echo three')],
      toolCall(0, { id: 'call_plan', name: 'update_plan', argument: plan }),
      customCall(0, { id: 'call_patch', name: 'apply_patch', input: patch }),
      toolCall(0, { id: 'call_view', name: 'view_image', argument: { path: join(folder, 'picture.png') } }),
      shell(0, 'exit 3'),
    ].map((events) => answersWith(events))
  },
}
