import { shortForms } from '../../short.ts'

shortForms([
  'inference/forms/forms-round-trip',
  'inference/forms/forms-signatures',
  'inference/forms/forms-streamed',
  'inference/forms/forms-table',
  'inference/forms/forms-usage',
])
