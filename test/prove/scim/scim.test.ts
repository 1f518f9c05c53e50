import { shortForms } from '../short.ts'

shortForms(['scim/directory'])
