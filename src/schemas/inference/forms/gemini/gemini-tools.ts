import type { Prompt, PromptTool, ToolChoice } from '../../../../dialects/prompt.ts'

/** The members of a request that declare functions, and say whether the model has to call one. */
export function geminiTools({
  tools,
  toolChoice,
}: Pick<Prompt, 'tools' | 'toolChoice'>): Readonly<Record<string, unknown>> {
  if (tools.length === 0) return {}
  const declared = { tools: [{ functionDeclarations: tools.map(declarationOf) }] }
  if (toolChoice === null) return declared
  return { ...declared, toolConfig: { functionCallingConfig: callingOf(toolChoice) } }
}

function declarationOf({ name, description, schema }: PromptTool): object {
  return {
    name,
    ...(description !== null && { description }),
    // `parameters` takes a part of OpenAPI's schemas, this member all of JSON schema.
    ...(schema !== null && { parametersJsonSchema: schema }),
  }
}

function callingOf(choice: ToolChoice): object {
  switch (choice.kind) {
    case 'auto':
      return { mode: 'AUTO' }
    case 'none':
      return { mode: 'NONE' }
    case 'required':
      return { mode: 'ANY' }
    case 'tool':
      return { mode: 'ANY', allowedFunctionNames: [choice.name] }
    case 'allowed':
      // Google takes names in these modes alone; the second lets the model write a text.
      return { mode: choice.mode === 'required' ? 'ANY' : 'VALIDATED', allowedFunctionNames: choice.names }
  }
}
