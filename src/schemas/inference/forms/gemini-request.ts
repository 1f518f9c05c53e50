import { geminiConfig } from './gemini-config.ts'
import { geminiContents } from './gemini-contents.ts'
import { geminiDropped } from './gemini-dropped.ts'
import { geminiTools } from './gemini-tools.ts'
import { refusedBy } from './needs.ts'
import type { Prompt } from './prompt.ts'
import type { WriteTerms, WrittenPrompt } from './write-terms.ts'

/** A prompt as the body of Gemini's `generateContent` and `streamGenerateContent`. D5, D6. */
export function writeGemini(prompt: Prompt, terms: WriteTerms): WrittenPrompt {
  const { config, dropped, refused } = geminiConfig(prompt, terms)
  const { system, contents, isReasoningDropped } = geminiContents(prompt.turns, terms)
  const body = {
    ...(system.length > 0 && { systemInstruction: { parts: system } }),
    contents,
    ...geminiTools(prompt),
    ...(Object.keys(config).length > 0 && { generationConfig: config }),
  }
  const names = [...geminiDropped(prompt), ...dropped, ...(isReasoningDropped ? ['reasoning'] : [])]
  return {
    body,
    dropped: [...new Set(names)],
    refused: [...refused, ...refusedBy(prompt, 'gemini', terms)],
  }
}

/** The same prompt as the body of `countTokens`. */
export function writeGeminiCount(prompt: Prompt, terms: WriteTerms): WrittenPrompt {
  const { body, dropped, refused } = writeGemini(prompt, terms)
  const { generationConfig: _, ...counted } = body
  const model = `models/${terms.upstreamModel}`
  return { body: { generateContentRequest: { model, ...counted } }, dropped, refused }
}
