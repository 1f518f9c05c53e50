import type { KeptForm, MarkPlan } from '../kept-body.ts'
import { CHAT_KEPT } from '../presets/preset-chat.ts'
import { ChatBody } from './chat.ts'
import { FILE_OBJECTS } from './file-references.ts'
import { STRICT_CUT, STRICT_CUT_BY_ROLE, STRICT_CUT_INSIDE } from './strict-members.ts'
import { DECIDED, DECIDED_WITHIN, DECIDING, OURS_NAMES } from './text-members.ts'

/** The member of `stream_options` that Sluice sends in every streamed call. */
export const INCLUDE_USAGE = 'include_usage'

const PART: MarkPlan = { names: STRICT_CUT_INSIDE, once: DECIDING, members: DECIDED_WITHIN }

/** The members of a Chat body whose places are kept: those that Sluice removes, sets, adds or cuts. */
export const CHAT_KEPT_FORM: KeptForm = {
  names: [
    ...new Set([
      ...Object.keys(ChatBody.properties),
      ...Object.keys(CHAT_KEPT.properties),
      ...OURS_NAMES,
      ...Object.keys(STRICT_CUT),
      ...STRICT_CUT_INSIDE,
      ...Object.values(STRICT_CUT_BY_ROLE).flat(),
      INCLUDE_USAGE,
    ]),
  ],
  objects: FILE_OBJECTS,
  marks: {
    messages: {
      each: {
        ...PART,
        when: { member: 'role', names: STRICT_CUT_BY_ROLE },
        members: { ...DECIDED_WITHIN, content: { ...DECIDED, each: PART } },
      },
    },
    tools: { each: PART },
    stream_options: { names: [INCLUDE_USAGE] },
  },
}
