import { shortForms } from '../short.ts'

shortForms(['keys/isolation', 'keys/key-rotation', 'keys/loads', 'keys/revocation'])
