import { shortForms } from '../short.ts'

shortForms([
  'inference/chat-crash --translated',
  'inference/chat-deaths --translated',
  'inference/chat-framing --translated',
  'inference/chat-leaving --translated',
])
