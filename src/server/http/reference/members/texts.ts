import { CALLING_TEXTS } from './calling-texts.ts'
import { CATALOGUE_TEXTS } from './catalogue-texts.ts'
import { MANAGING_TEXTS } from './managing-texts.ts'

/**
 * Descriptions of members of bodies and answers, for shapes without a description of their own: by the name
 * of the member, and as `parent.name` where the name means something else there. C39.
 */
export const MEMBER_TEXTS: Readonly<Record<string, string>> = {
  data: 'The result.',
  object: 'The kind of this object, as clients of OpenAI read it.',
  type: 'The kind of this object; it decides which members follow.',
  _shape: 'The form of the answer, which the headers of the request decide.',
  id: 'The id of this object.',
  name: 'The name that people see.',
  slug: 'The name in addresses.',
  description: 'A text for people.',
  status: 'The state of this object.',
  hash: 'Lower-case hex SHA-256 of the key, which stands for the key in paths and lists.',
  label: 'The beginning and the end of the key, by which people recognize it.',
  created_at: 'When the object was made.',
  updated_at: 'When the object was changed last.',
  expires_at: 'When the object ends by itself; null or left out: never.',
  organization_id: 'Id of the organization that owns the object.',
  workspace_id: 'Id of the workspace that the object belongs to.',
  key_hash: 'Hash of the API key.',
  request_id: 'Id of the call, as in the header `x-request-id`.',
  generation_id: 'Id of the record of the call, for `GET /generation`.',
  deleted: 'Always true: the object is gone.',
  has_more: 'True: another page follows.',
  total_count: 'Objects that match, on all pages together.',
  first_id: 'Id of the first entry of this page; null: the page is empty.',
  last_id: 'Id of the last entry of this page, for `after`; null: the page is empty.',
  next_cursor: '`cursor` of the next page; left out on the last page.',
  next_page: '`page` of the next page; null: this is the last page.',
  cursor: '`cursor` of the next page; null: this is the last page.',
  links: 'Paths that belong to this answer.',
  count: 'How many there are.',
  limit: 'Entries of a page at most.',
  error: 'What went wrong; null or left out: nothing did.',
  code: 'The code of the error.',
  message: 'What went wrong, as a sentence for people.',
  'error.message': 'What was wrong and what would be right, as a sentence.',
  'error.metadata': 'Facts about the error for programs.',
  issues: 'The inputs that were wrong.',
  'issues.path': 'JSON pointer of the input.',
  'issues.message': 'What is wrong with it.',
  'issues.expected': 'What would be right.',
  sluice_metadata: 'Reserved: null, or an object.',
  bytes: 'Size in bytes.',
  at: 'The instant.',
  from: 'Where the answer begins: a day, an instant or a version.',
  to: 'Where the answer ends: a day, an instant or a version.',
  role: 'Who speaks, or what a member of a workspace may do.',
  ...CATALOGUE_TEXTS,
  ...CALLING_TEXTS,
  ...MANAGING_TEXTS,
}

/**
 * The description of a member by its name; undefined when the tables have none.
 * @param owner name of the member that has this one; empty at the top
 */
export function memberText(name: string, owner = ''): string | undefined {
  return MEMBER_TEXTS[`${owner}.${name}`] ?? MEMBER_TEXTS[name]
}
