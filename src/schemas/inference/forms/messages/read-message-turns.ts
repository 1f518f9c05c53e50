import { isObject, type Members } from '../../../values/members.ts'
import type { JsonPath } from '../../../values/json-path.ts'
import { withoutBilling } from '../../conversation.ts'
import type { Message } from '../../messages.ts'
import { SIGNATURE_FORMATS, signatureOf, type SignatureUse } from '../../../../dialects/signatures.ts'
import { isEmptyText, speaking } from '../../../../dialects/cache-points.ts'
import { cachePointOf, textOf, type Others } from '../../../../dialects/others.ts'
import type { Turn } from '../../../../dialects/prompt.ts'
import { usedMembers } from '../../../../dialects/table/nested-table.ts'
import { TurnRuns } from '../turn-runs.ts'
import { signedReasoning, withCallSignatures, type ReadPart } from '../signed-calls.ts'
import {
  argumentsText,
  blocksOf,
  isContent,
  readGiven,
  readText,
  type GivenPart,
} from '../../../../dialects/messages/request-parts.ts'

/** Turns of one role that follow each other are one, as they are for Anthropic. */
export function readMessageTurns(messages: readonly Message[], others: Others): readonly Turn[] {
  const runs = new TurnRuns()
  for (const [nth, message] of messages.entries()) {
    const path = ['messages', nth, 'content']
    others.addRest(message, MESSAGE, { path: ['messages', nth] })
    const blocks = blocksOf(message.content)
    for (const turn of turnsOf(message.role, blocks, { path, others })) runs.add(turn)
  }
  // A turn without its silent parts may be none, and its neighbours one.
  const spoken = new TurnRuns()
  for (const turn of runs.turns) spoken.add(withoutSilent(turn, others))
  return spoken.turns
}

function withoutSilent(turn: Turn, others: Others): Turn {
  const lost = (): void => others.add('cache_control', ['messages'])
  switch (turn.role) {
    case 'system':
      return { ...turn, parts: speaking(turn.parts, isEmptyText, lost) }
    case 'user':
      return { ...turn, parts: speaking(turn.parts, isEmptyText, lost) }
    case 'assistant':
      return { ...turn, parts: speaking(turn.parts, isEmptyText, lost) }
    case 'tool':
      return { ...turn, parts: speaking(turn.parts, isEmptyText, lost) }
  }
}

const MESSAGE = usedMembers('messages', 'turns', { type: 'user' })

interface Place {
  readonly path: JsonPath
  readonly others: Others
}

function turnsOf(
  role: Message['role'],
  blocks: readonly Members[],
  { path, others }: Place,
): readonly Turn[] {
  switch (role) {
    case 'system':
      return [{ role, parts: readSystem(blocks, path, others) }]
    case 'user':
      return blocks.map((block, nth) => readUserBlock(block, [...path, nth], others))
    case 'assistant': {
      const parts = blocks.flatMap((block, nth) => readModelBlock(block, [...path, nth], others))
      return [{ role, parts: withCallSignatures(parts) }]
    }
  }
}

/** Texts of the system. */
export function readSystem(
  blocks: readonly Members[],
  path: JsonPath,
  others: Others,
): Extract<Turn, { readonly role: 'system' }>['parts'] {
  const parts = blocks.flatMap((block, nth) => {
    if (block['type'] === 'text')
      return readText({ ...block, text: withoutBilling(textOf(block['text']) ?? '') }, [...path, nth], others)
    others.add('messages.content', [...path, nth])
    return []
  })
  return speaking(parts, isEmptyText, () => others.add('cache_control', path))
}

const RESULT = usedMembers('messages', 'parts', { type: 'tool_result' })

/** A block of the user: the result of a tool is a turn of its own. */
function readUserBlock(block: Members, path: JsonPath, others: Others): Turn {
  if (block['type'] !== 'tool_result') return { role: 'user', parts: readGiven(block, path, others) }
  others.addRest(block, RESULT, { path })
  const { content, is_error: isError } = block
  if (typeof isError !== 'boolean') others.addUnread('is_error', isError, [...path, 'is_error'])
  if (!isContent(content)) others.addUnread('messages.content', content, [...path, 'content'])
  return {
    role: 'tool',
    callId: textOf(block['tool_use_id']) ?? '',
    parts: blocksOf(content).flatMap((one, nth): readonly GivenPart[] =>
      readGiven(one, [...path, 'content', nth], others),
    ),
    isError: isError === true,
    cache: cachePointOf(block['cache_control']),
  }
}

const CALL = usedMembers('messages', 'parts', { type: 'tool_use' })
const THINKING = usedMembers('messages', 'parts', { type: 'thinking' })
const REDACTED = usedMembers('messages', 'parts', { type: 'redacted_thinking' })

function readModelBlock(block: Members, path: JsonPath, others: Others): readonly ReadPart[] {
  const { type } = block
  switch (type) {
    case 'text':
      return readText(block, path, others)
    case 'tool_use':
      others.addRest(block, CALL, { path })
      if (!isObject(block['input'])) others.addUnread('messages.content', block['input'], [...path, 'input'])
      return [
        {
          ...{ kind: 'call', id: textOf(block['id']) ?? '', name: textOf(block['name']) ?? '' },
          ...{ arguments: argumentsText(block['input']), signature: null },
          cache: cachePointOf(block['cache_control']),
        },
      ]
    case 'thinking':
      others.addRest(block, THINKING, { path })
      return reasoningOf(textOf(block['thinking']) ?? '', textOf(block['signature']), 'reasoning')
    case 'redacted_thinking':
      others.addRest(block, REDACTED, { path })
      return reasoningOf('', textOf(block['data']), 'redacted')
    default:
      others.add('messages.content', path)
      return []
  }
}

/** @param of what a signature there belongs to by itself */
function reasoningOf(text: string, carried: string | null, of: SignatureUse): readonly ReadPart[] {
  const signature = signatureOf(carried ?? '', { format: SIGNATURE_FORMATS.messages, of })
  return signedReasoning({ text, isSummary: false, id: null }, signature)
}
