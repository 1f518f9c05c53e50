import { shortForms } from '../short.ts'

shortForms(['workspaces/members'])
