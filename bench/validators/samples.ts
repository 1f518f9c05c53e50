/**
 * Bodies for the comparison of validators: small and large ones of callers, and one whose last part is wrong.
 */
import type { ValidatedBody } from './settings.ts'

export interface Sample {
  readonly name: string
  readonly isGood: boolean
  readonly value: unknown
}

const SENTENCE = 'The quick brown fox jumps over the lazy dog.'
const TEXTS = 500
const TOKENS = 8_192
const MESSAGES = 200
const TOOLS = 20
/** Characters of the base64 of an image of about 200 KB. */
const IMAGE_CHARS = 262_144

const EMBEDDINGS = { model: 'bench/embed', input: SENTENCE, encoding_format: 'float' }
const IMAGE = { url: `data:image/png;base64,${'iVBORw0K'.repeat(IMAGE_CHARS / 8)}` }
const VIDEO = {
  model: 'bench/video',
  prompt: SENTENCE,
  duration: 4,
  resolution: '720p',
  aspect_ratio: '16:9',
  generate_audio: false,
  seed: 7,
  session_id: 'session-1',
}
const FRAMES = ['first_frame', 'last_frame'].map((frame_type) => ({
  type: 'image_url',
  image_url: IMAGE,
  frame_type,
}))
const CHAT = {
  model: 'bench/chat',
  temperature: 0.2,
  messages: [
    { role: 'system', content: SENTENCE },
    { role: 'user', content: SENTENCE },
  ],
}
const LONG_CHAT = {
  ...CHAT,
  messages: Array.from({ length: MESSAGES }, (_, index) =>
    index % 2 === 0
      ? {
          role: 'user',
          content: [
            { type: 'text', text: SENTENCE },
            { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
          ],
        }
      : { role: 'assistant', content: SENTENCE },
  ),
  tools: Array.from({ length: TOOLS }, (_, index) => ({
    type: 'function',
    function: {
      name: `tool_${index}`,
      description: SENTENCE,
      parameters: { type: 'object', properties: { a: { type: 'string' } } },
    },
  })),
  metadata: { team: 'search', purpose: 'bench' },
}
const texts = (last: unknown): readonly unknown[] => [
  ...Array.from({ length: TEXTS }, (_, index) => `${SENTENCE} ${index}`),
  last,
]

export const SAMPLES: Readonly<Record<ValidatedBody, readonly Sample[]>> = {
  embeddings: [
    { name: 'one text', isGood: true, value: EMBEDDINGS },
    { name: `${TEXTS + 1} texts`, isGood: true, value: { ...EMBEDDINGS, input: texts(SENTENCE) } },
    {
      name: `${TOKENS} tokens`,
      isGood: true,
      value: { ...EMBEDDINGS, input: Array.from({ length: TOKENS }, (_, index) => index) },
    },
    { name: `${TEXTS} texts and a number`, isGood: false, value: { ...EMBEDDINGS, input: texts(1) } },
  ],
  video: [
    { name: 'a prompt', isGood: true, value: VIDEO },
    { name: 'two frames of 200 KB', isGood: true, value: { ...VIDEO, frame_images: FRAMES } },
    { name: 'a duration that is not whole', isGood: false, value: { ...VIDEO, duration: 4.5 } },
  ],
  preset_chat: [
    { name: 'two messages', isGood: true, value: CHAT },
    { name: `${MESSAGES} messages and ${TOOLS} tools`, isGood: true, value: LONG_CHAT },
    {
      name: `${MESSAGES} messages and one of no role`,
      isGood: false,
      value: { ...LONG_CHAT, messages: [...LONG_CHAT.messages, { role: 'nobody', content: '' }] },
    },
  ],
}
