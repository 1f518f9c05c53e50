import { shortForms } from '../short.ts'

shortForms(['egress/destinations', 'egress/egress', 'egress/http-client'])
