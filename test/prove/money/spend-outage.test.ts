import { program } from './spend-outage.ts'
import { short } from '../short.ts'

await short('spend-outage', program)
