import { shortForms } from '../short.ts'

shortForms(['requests/request-log'])
