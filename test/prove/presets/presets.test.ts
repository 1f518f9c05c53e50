import { shortForms } from '../short.ts'

shortForms(['presets/presets'])
