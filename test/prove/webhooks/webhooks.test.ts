import { shortForms } from '../short.ts'

shortForms(['webhooks/callbacks', 'webhooks/webhooks'])
