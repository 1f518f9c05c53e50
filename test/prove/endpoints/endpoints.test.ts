import { shortForms } from '../short.ts'

shortForms(['endpoints/endpoints'])
