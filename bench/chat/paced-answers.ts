/** What the paced provider answers in each form. */

export interface PacedAnswer {
  /** Events before the first text. */
  readonly begin: string
  /** An event with text. */
  readonly text: string
  /** Events behind the last text. */
  readonly end: string
  /** The body of an answer that is not streamed. */
  readonly whole: string
}

/** Characters of text in an event; with its head an event of chat has 330 bytes, as those of large providers. */
const TEXT = 'x'.repeat(86)
/** The text of an answer that is not streamed: the answer has about 2 KB. */
const WHOLE_TEXT = 'x'.repeat(1_700)
const MODEL = 'bench-model-2026-01-01'

const CHAT_HEAD = {
  id: 'chatcmpl-Bench00000000000000000000',
  object: 'chat.completion.chunk',
  created: 1_700_000_000,
  model: MODEL,
  service_tier: 'default',
  system_fingerprint: 'fp_bench00000',
}
const CHAT_USAGE = { prompt_tokens: 12, completion_tokens: 150, total_tokens: 162 }

function chatEvent(delta: object, finish: string | null): string {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }]
  return `data: ${JSON.stringify({ ...CHAT_HEAD, choices, usage: null })}\n\n`
}

export const CHAT_ANSWER: PacedAnswer = {
  begin: chatEvent({ role: 'assistant', content: '', refusal: null }, null),
  text: chatEvent({ content: TEXT }, null),
  end: `${chatEvent({}, 'stop')}data: ${JSON.stringify({ ...CHAT_HEAD, choices: [], usage: CHAT_USAGE })}\n\ndata: [DONE]\n\n`,
  whole: JSON.stringify({
    ...CHAT_HEAD,
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: WHOLE_TEXT, refusal: null, annotations: [] },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: CHAT_USAGE,
  }),
}

const MESSAGE = { id: 'msg_Bench00000000000000000000', type: 'message', role: 'assistant', model: MODEL }
const INPUT_USAGE = { input_tokens: 12, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }

function messageEvent(data: { readonly type: string; readonly [member: string]: unknown }): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
}

function delta(members: object): string {
  return messageEvent({ type: 'content_block_delta', index: 0, ...members })
}

export const MESSAGES_ANSWER: PacedAnswer = {
  begin: [
    {
      type: 'message_start',
      message: {
        ...MESSAGE,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { ...INPUT_USAGE, output_tokens: 1 },
      },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'ping' },
  ]
    .map(messageEvent)
    .join(''),
  text: delta({ delta: { type: 'text_delta', text: TEXT } }),
  end: [
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { ...INPUT_USAGE, output_tokens: 150 },
    },
    { type: 'message_stop' },
  ]
    .map(messageEvent)
    .join(''),
  whole: JSON.stringify({
    ...MESSAGE,
    content: [{ type: 'text', text: WHOLE_TEXT }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { ...INPUT_USAGE, output_tokens: 150 },
  }),
}
