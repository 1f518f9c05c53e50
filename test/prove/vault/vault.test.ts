import { shortForms } from '../short.ts'

shortForms(['vault/canary', 'vault/seal', 'vault/vault-rotation', 'vault/vault'])
