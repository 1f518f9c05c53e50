import { shortForms } from '../short.ts'

shortForms(['audit/audit'])
