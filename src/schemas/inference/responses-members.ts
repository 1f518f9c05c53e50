import type { KeptForm, MarkPlan } from '../kept-body.ts'
import { RESPONSES_KEPT } from '../presets/preset-responses.ts'
import { FILE_OBJECTS } from './file-references.ts'
import { ResponsesBody } from './responses.ts'
import { RESPONSES_STRICT_CUT, STRICT_CUT_INSIDE, type ForeignMember } from './strict-members.ts'
import { DECIDED, DECIDED_WITHIN, DECIDING, OURS_NAMES } from './text-members.ts'

/** Members of `reasoning` that OpenAI lacks, with the values that change nothing. */
export const RESPONSES_REASONING_CUT: Readonly<Record<string, ForeignMember>> = {
  max_tokens: { defaults: [] },
  enabled: { defaults: ['true'] },
  exclude: { defaults: ['false'] },
}

/**
 * Members of items of one type that `@openrouter/sdk` has and OpenAI's types lack, by their names in JSON:
 * clients of OpenRouter return items as they received them.
 */
export const RESPONSES_STRICT_CUT_BY_TYPE: Readonly<Record<string, readonly string[]>> = {
  reasoning: ['format', 'signature'],
  function_call: ['subagent_id', 'subagent_items'],
}

/** All members of an item that refers to a stored object. */
export const REFERENCE_MEMBERS: readonly string[] = ['type', 'id']

/** Members of a reasoning item that decide whether a provider can continue from it. */
export const REASONING_MEMBERS = { text: 'summary', encrypted: 'encrypted_content' } as const

const OF_TYPE: Readonly<Record<string, readonly string[]>> = {
  ...RESPONSES_STRICT_CUT_BY_TYPE,
  reasoning: [...(RESPONSES_STRICT_CUT_BY_TYPE['reasoning'] ?? []), ...Object.values(REASONING_MEMBERS)],
  item_reference: REFERENCE_MEMBERS,
  image_generation_call: ['id'],
}

const PART: MarkPlan = { names: STRICT_CUT_INSIDE, once: DECIDING, members: DECIDED_WITHIN }

/** The members of a Responses body whose places are kept: those that Sluice removes, sets, adds or cuts. */
export const RESPONSES_KEPT_FORM: KeptForm = {
  names: [
    ...new Set([
      ...Object.keys(ResponsesBody.properties),
      ...Object.keys(RESPONSES_KEPT.properties),
      ...OURS_NAMES,
      ...Object.keys(RESPONSES_STRICT_CUT),
      ...Object.keys(RESPONSES_REASONING_CUT),
      ...STRICT_CUT_INSIDE,
      ...Object.values(OF_TYPE).flat(),
    ]),
  ],
  objects: FILE_OBJECTS,
  marks: {
    input: {
      each: {
        ...PART,
        when: {
          member: 'type',
          names: OF_TYPE,
        },
        members: { ...DECIDED_WITHIN, content: { ...DECIDED, each: PART } },
      },
    },
    tools: { each: PART },
    reasoning: { names: Object.keys(RESPONSES_REASONING_CUT) },
  },
}
