import { fail } from '../../../schemas/failures.ts'
import { GenerationQuery } from '../../../schemas/inference/generations.ts'
import { defineOperation } from '../define.ts'
import { EXAMPLE_GENERATION, GENERATION_STATUSES } from './get-generation.ts'

/** Refused: prompts and answers are never stored. Source: D33, D37. */
export const getGenerationContent = defineOperation({
  id: 'generations.content',
  method: 'get',
  path: '/generation/content',
  tag: 'inference',
  summary: 'Prompt and answer of a call: not stored',
  input: { query: GenerationQuery },
  success: { status: 404, body: null },
  statuses: GENERATION_STATUSES,
  failures: ['content_not_kept'],
  example: { query: { id: EXAMPLE_GENERATION } },
  run: () => fail('content_not_kept'),
})
