import type { Members } from '../../../values/members.ts'
import { freeformMembers } from '../../../../dialects/freeform-tools.ts'
import type { PromptTool, ToolChoice } from '../../../../dialects/prompt.ts'
import type { PromptDraft } from '../../../../dialects/prompt-draft.ts'

/** Providers refuse a choice where there are no tools. */
export function writeTools(draft: PromptDraft): void {
  const { tools, toolChoice, isParallel } = draft.prompt
  if (tools.length === 0) return
  draft.set(
    'tools',
    draft.isSameForm ? ownTools(tools) : tools.map((tool) => toolMember(tool, { isSameForm: false })),
  )
  draft.set('tool_choice', toolChoice === null ? null : choiceMember(draft, toolChoice))
  draft.set('parallel_tool_calls', isParallel)
}

/** Responses are strict where nothing is said, and other forms are not. */
function toolMember(
  { name, description, schema, isStrict }: PromptTool,
  { isSameForm }: { readonly isSameForm: boolean },
): Members {
  return {
    type: 'function',
    name,
    ...(description !== null && { description }),
    parameters: schema,
    strict: isStrict ?? (isSameForm ? null : false),
  }
}

/** Tools as the caller declared them; those of one namespace that follow each other are together again. */
function ownTools(tools: readonly PromptTool[]): readonly Members[] {
  const written: Members[] = []
  let last: string | null = null
  let within: Members[] = []
  for (const tool of tools) {
    const { namespace = null, about = null } = tool.origin ?? {}
    if (namespace !== null && namespace !== last) {
      within = []
      written.push({ type: 'namespace', name: namespace, ...described(about), tools: within })
    }
    last = namespace
    const into = namespace === null ? written : within
    into.push(ownTool(tool))
  }
  return written
}

function ownTool(tool: PromptTool): Members {
  const { origin } = tool
  if (origin === undefined) return toolMember(tool, { isSameForm: true })
  if (origin.isFreeform) return { type: 'custom', ...freeformMembers(origin) }
  const { name, description } = origin
  return toolMember({ ...tool, name, description }, { isSameForm: true })
}

function described(description: string | null): Members {
  return description === null ? {} : { description }
}

function choiceMember({ isSameForm, prompt }: PromptDraft, choice: ToolChoice): unknown {
  const named = (name: string): Members => {
    const origin = isSameForm ? prompt.tools.find((tool) => tool.name === name)?.origin : undefined
    return { type: origin?.isFreeform === true ? 'custom' : 'function', name: origin?.name ?? name }
  }
  if (choice.kind === 'tool') return named(choice.name)
  if (choice.kind !== 'allowed') return choice.kind
  return { type: 'allowed_tools', mode: choice.mode, tools: choice.names.map(named) }
}
