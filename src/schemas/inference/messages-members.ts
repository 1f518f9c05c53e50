import type { KeptForm } from '../kept-body.ts'
import { MESSAGES_KEPT } from '../presets/preset-messages.ts'
import { CHAT_OURS } from './chat-members.ts'
import { FILE_OBJECTS } from './file-references.ts'
import { CountTokensBody, MessagesBody } from './messages.ts'

/** What is kept of the body of a message: the members that Sluice takes out, sets or adds. D4, D10. */
export const MESSAGES_KEPT_FORM: KeptForm = {
  names: [
    ...new Set([
      ...Object.keys(MessagesBody.properties),
      ...Object.keys(MESSAGES_KEPT.properties),
      ...CHAT_OURS,
    ]),
  ],
  objects: FILE_OBJECTS,
  marks: {},
}

/** The same of a prompt whose tokens are counted. */
export const COUNT_KEPT_FORM: KeptForm = {
  names: [...new Set([...Object.keys(CountTokensBody.properties), ...CHAT_OURS])],
  objects: FILE_OBJECTS,
  marks: {},
}
