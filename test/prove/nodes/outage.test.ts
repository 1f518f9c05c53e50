import { program } from './outage.ts'
import { short } from '../short.ts'

await short('outage', program)
