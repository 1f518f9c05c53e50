import { shortForms } from '../short.ts'

shortForms([
  'inference/chat-affinity',
  'inference/chat-agents',
  'inference/chat-clients',
  'inference/chat-crash',
  'inference/chat-deaths',
  'inference/chat-drain',
  'inference/chat-fidelity',
  'inference/chat-files',
  'inference/chat-framing',
  'inference/chat-hostile',
  'inference/chat-leaving',
  'inference/chat-limits',
  'inference/chat-money',
  'inference/chat-pace',
  'inference/chat-slow-readers',
  'inference/chat-stores',
  'inference/replay/replay',
])
