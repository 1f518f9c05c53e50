import { program } from './journal.ts'
import { short } from '../short.ts'

await short('journal', program)
