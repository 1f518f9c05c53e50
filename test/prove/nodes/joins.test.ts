import { short } from '../short.ts'
import { program } from './joins.ts'

await short('joins', program)
