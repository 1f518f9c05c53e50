import type { KeptForm } from '../kept-body.ts'
import { MESSAGES_KEPT } from '../presets/preset-messages.ts'
import { FILE_OBJECTS } from './file-references.ts'
import { CountTokensBody, MessagesBody } from './messages.ts'
import { DECIDED, OURS_NAMES } from './text-members.ts'

/** What is kept of the body of a message: the members that Sluice takes out, sets or adds. D4, D10. */
export const MESSAGES_KEPT_FORM: KeptForm = {
  names: [
    ...new Set([
      ...Object.keys(MessagesBody.properties),
      ...Object.keys(MESSAGES_KEPT.properties),
      ...OURS_NAMES,
    ]),
  ],
  objects: FILE_OBJECTS,
  marks: { system: DECIDED, messages: DECIDED, tools: DECIDED },
}

/** The same of a prompt whose tokens are counted. */
export const COUNT_KEPT_FORM: KeptForm = {
  names: [...new Set([...Object.keys(CountTokensBody.properties), ...OURS_NAMES])],
  objects: FILE_OBJECTS,
  marks: {},
}
