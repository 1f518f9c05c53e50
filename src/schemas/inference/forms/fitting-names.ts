import { FunctionNames, isFitting } from './function-names.ts'
import type { Prompt, PromptTool, ToolChoice, Turn } from '../../../dialects/prompt.ts'

/**
 * The prompt with names of functions that all providers take: a dialect has longer ones, and other characters.
 * The caller reads its own names in the answer. D6.
 */
export function withFittingNames(prompt: Prompt): Prompt {
  const { tools, toolChoice, turns } = prompt
  const all = [...tools.map(({ name }) => name), ...turns.flatMap(calledIn)]
  if (all.every(isFitting)) return prompt
  const names = new FunctionNames(all.filter(isFitting))
  return {
    ...prompt,
    tools: tools.map((tool) => renamedTool(tool, names)),
    toolChoice: toolChoice === null ? null : renamedChoice(toolChoice, names),
    turns: turns.map((turn) => renamedTurn(turn, names)),
  }
}

function calledIn(turn: Turn): readonly string[] {
  return turn.role === 'assistant'
    ? turn.parts.flatMap((part) => (part.kind === 'call' ? part.name : []))
    : []
}

function renamedChoice(choice: ToolChoice, names: FunctionNames): ToolChoice {
  if (choice.kind === 'tool') return { ...choice, name: names.fitting(choice.name) }
  return choice.kind === 'allowed'
    ? { ...choice, names: choice.names.map((name) => names.fitting(name)) }
    : choice
}

function renamedTool(tool: PromptTool, names: FunctionNames): PromptTool {
  const { name, description } = tool
  const own = { name, namespace: null, isFreeform: false, description, about: null, format: null }
  return isFitting(name) ? tool : { ...tool, name: names.fitting(name), origin: tool.origin ?? own }
}

function renamedTurn(turn: Turn, names: FunctionNames): Turn {
  if (turn.role !== 'assistant') return turn
  const parts = turn.parts.map((part) =>
    part.kind === 'call' ? { ...part, name: names.fitting(part.name) } : part,
  )
  return { ...turn, parts }
}
